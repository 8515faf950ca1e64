import { type Infer, object, pointer, required, string } from '../../schema.ts';

export const CELDeviceSelector = object('io.k8s.api.resource.v1.CELDeviceSelector', '', {
  expression: required(1, string),
});
export type CELDeviceSelector = Infer<typeof CELDeviceSelector>;

export const DeviceSelector = object('io.k8s.api.resource.v1.DeviceSelector', '', {
  cel: pointer(1, CELDeviceSelector),
});
export type DeviceSelector = Infer<typeof DeviceSelector>;
