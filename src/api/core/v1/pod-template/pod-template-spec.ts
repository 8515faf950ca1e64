import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, type Infer, object } from '../../../schema.ts';
import { PodSpec } from '../pod/pod-spec.ts';

export const PodTemplateSpec = object('io.k8s.api.core.v1.PodTemplateSpec', 'What pods made from a template look like.', {
  metadata: always(1, ObjectMeta, 'Labels and annotations of the pods.'),
  spec: always(2, PodSpec, 'What the pods run.'),
});
export type PodTemplateSpec = Infer<typeof PodTemplateSpec>;
