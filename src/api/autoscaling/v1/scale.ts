import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, message, object, required, string } from '../../schema.ts';

export const ScaleSpec = object('io.k8s.api.autoscaling.v1.ScaleSpec', 'The size that is wanted.', {
  replicas: field(1, int32, 'How many are wanted.', { default: 0 }),
});
export type ScaleSpec = Infer<typeof ScaleSpec>;

export const ScaleStatus = object('io.k8s.api.autoscaling.v1.ScaleStatus', 'The size that it has.', {
  replicas: required(1, int32, 'How many there are.'),
  selector: field(2, string, 'Labels of the pods, as text.'),
});
export type ScaleStatus = Infer<typeof ScaleStatus>;

export const Scale = message('io.k8s.api.autoscaling.v1.Scale', 'The size of something that has one.', {
  metadata: always(1, ObjectMeta, "Standard object's metadata."),
  spec: always(2, ScaleSpec, 'The size that is wanted.'),
  status: always(3, ScaleStatus, 'The size that it has.'),
});
export type Scale = Infer<typeof Scale>;
