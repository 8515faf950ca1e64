import { field, type Infer, int64, named, object, pointer, string } from '../../schema.ts';

export const DeviceToleration = object('io.k8s.api.resource.v1.DeviceToleration', 'A taint of devices that is tolerated.', {
  key: field(1, string, 'The key.'),
  operator: field(2, named('v1.DeviceTolerationOperator'), 'Exists, or Equal, which is the default.', { default: 'Equal' }),
  value: field(3, string, "The taint's value, for Equal."),
  effect: field(4, named('v1.DeviceTaintEffect'), "The taint's effect; every effect when absent."),
  tolerationSeconds: pointer(5, int64, 'How long a NoExecute taint is tolerated; for ever by default.'),
});
export type DeviceToleration = Infer<typeof DeviceToleration>;
