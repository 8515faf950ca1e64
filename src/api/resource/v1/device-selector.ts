import { type Infer, object, pointer, required, string } from '../../schema.ts';

export const CELDeviceSelector = object('io.k8s.api.resource.v1.CELDeviceSelector', 'A CEL expression on a device.', {
  expression: required(1, string, 'The expression, in which device is the device.'),
});
export type CELDeviceSelector = Infer<typeof CELDeviceSelector>;

export const DeviceSelector = object('io.k8s.api.resource.v1.DeviceSelector', 'What a device must satisfy.', {
  cel: pointer(1, CELDeviceSelector, 'A CEL expression.'),
});
export type DeviceSelector = Infer<typeof DeviceSelector>;
