import { field, type Infer, int64, object, required, string, time } from '../../schema.ts';

export const Condition = object('io.k8s.apimachinery.pkg.apis.meta.v1.Condition', '', {
  type: required(1, string),
  status: required(2, string),
  observedGeneration: field(3, int64),
  lastTransitionTime: required(4, time),
  reason: required(5, string),
  message: required(6, string),
});
export type Condition = Infer<typeof Condition>;
