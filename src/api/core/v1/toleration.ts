import { field, type Infer, int64, object, pointer, string } from '../../schema.ts';

export const Toleration = object('io.k8s.api.core.v1.Toleration', '', {
  key: field(1, string),
  operator: field(2, string),
  value: field(3, string),
  effect: field(4, string),
  tolerationSeconds: pointer(5, int64),
});
export type Toleration = Infer<typeof Toleration>;
