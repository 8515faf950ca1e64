import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, message, object, required, string } from '../../schema.ts';

export const ScaleSpec = object('io.k8s.api.autoscaling.v1.ScaleSpec', '', {
  replicas: field(1, int32),
});
export type ScaleSpec = Infer<typeof ScaleSpec>;

export const ScaleStatus = object('io.k8s.api.autoscaling.v1.ScaleStatus', '', {
  replicas: required(1, int32),
  selector: field(2, string),
});
export type ScaleStatus = Infer<typeof ScaleStatus>;

export const Scale = message('io.k8s.api.autoscaling.v1.Scale', '', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ScaleSpec),
  status: always(3, ScaleStatus),
});
export type Scale = Infer<typeof Scale>;
