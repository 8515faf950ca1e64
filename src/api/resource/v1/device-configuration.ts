import { anyObject, type Infer, object, pointer, required, string } from '../../schema.ts';

export const OpaqueDeviceConfiguration = object('io.k8s.api.resource.v1.OpaqueDeviceConfiguration', '', {
  driver: required(1, string, 'The driver.'),
  parameters: required(2, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
});
export type OpaqueDeviceConfiguration = Infer<typeof OpaqueDeviceConfiguration>;

export const DeviceConfiguration = object('io.k8s.api.resource.v1.DeviceConfiguration', '', {
  opaque: pointer(1, OpaqueDeviceConfiguration),
});
export type DeviceConfiguration = Infer<typeof DeviceConfiguration>;
