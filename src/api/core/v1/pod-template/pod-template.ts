import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, type Infer, kind } from '../../../schema.ts';
import { PodTemplateSpec } from './pod-template-spec.ts';

export const PodTemplate = kind(
  { name: 'io.k8s.api.core.v1.PodTemplate', group: '', version: 'v1', kind: 'PodTemplate', resource: 'podtemplates', namespaced: true },
  'A pattern for pods, kept as an object.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    template: always(2, PodTemplateSpec, 'What pods made from it look like.'),
  },
);
export type PodTemplate = Infer<typeof PodTemplate>;
