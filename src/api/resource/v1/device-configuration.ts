import { anyObject, type Infer, object, pointer, required, string } from '../../schema.ts';

export const OpaqueDeviceConfiguration = object('io.k8s.api.resource.v1.OpaqueDeviceConfiguration', "Settings in a driver's own form.", {
  driver: required(1, string, 'The driver.'),
  parameters: required(2, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The settings, as an object that names its kind.'),
});
export type OpaqueDeviceConfiguration = Infer<typeof OpaqueDeviceConfiguration>;

export const DeviceConfiguration = object('io.k8s.api.resource.v1.DeviceConfiguration', 'Settings for a driver.', {
  opaque: pointer(1, OpaqueDeviceConfiguration, "Settings in the driver's own form."),
});
export type DeviceConfiguration = Infer<typeof DeviceConfiguration>;
