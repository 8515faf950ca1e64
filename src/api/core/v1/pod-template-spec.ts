import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, type Infer, object } from '../../schema.ts';
import { PodSpec } from './pod-spec.ts';

export const PodTemplateSpec = object('io.k8s.api.core.v1.PodTemplateSpec', '', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodSpec),
});
export type PodTemplateSpec = Infer<typeof PodTemplateSpec>;
