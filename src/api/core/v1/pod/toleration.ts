import { field, type Infer, int64, named, object, pointer, string } from '../../../schema.ts';

export const Toleration = object('io.k8s.api.core.v1.Toleration', 'A taint that a pod tolerates.', {
  key: field(1, string, "The taint's key; every key when absent and the operator is Exists."),
  operator: field(2, named('v1.TolerationOperator'), 'Exists, or Equal, which is the default.'),
  value: field(3, string, "The taint's value, for Equal."),
  effect: field(4, named('v1.TaintEffect'), "The taint's effect; every effect when absent."),
  tolerationSeconds: pointer(5, int64, 'How long a NoExecute taint is tolerated; for ever by default.'),
});
export type Toleration = Infer<typeof Toleration>;
