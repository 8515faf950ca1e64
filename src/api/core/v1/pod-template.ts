import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, kind } from '../../schema.ts';
import { PodTemplateSpec } from './pod-template-spec.ts';

export const PodTemplate = kind(
  { name: 'io.k8s.api.core.v1.PodTemplate', group: '', version: 'v1', kind: 'PodTemplate', resource: 'podtemplates', namespaced: true },
  '',
  {
    metadata: always(1, ObjectMeta),
    template: always(2, PodTemplateSpec),
  },
);
export type PodTemplate = Infer<typeof PodTemplate>;
