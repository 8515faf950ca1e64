import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int64,
  listOf,
  mapOf,
  named,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../schema.ts';
import { DeviceConfiguration } from './device-configuration.ts';
import { DeviceSelector } from './device-selector.ts';
import { DeviceToleration } from './device-toleration.ts';

export const CapacityRequirements = object('io.k8s.api.resource.v1.CapacityRequirements', 'How much of a shared device is wanted.', {
  requests: field(1, named('map[v1.QualifiedName]resource.Quantity', mapOf(quantity)), 'How much, by name.'),
});
export type CapacityRequirements = Infer<typeof CapacityRequirements>;

export const ExactDeviceRequest = object('io.k8s.api.resource.v1.ExactDeviceRequest', 'Devices that are wanted.', {
  deviceClassName: required(1, string, 'Their class.'),
  selectors: field(2, listOf(DeviceSelector), 'What they must satisfy besides.'),
  allocationMode: field(3, named('v1.DeviceAllocationMode'), 'ExactCount (the default), or All.'),
  count: field(4, int64, 'How many. 1 by default.'),
  adminAccess: pointer(5, bool, 'Whether the devices are allocated for administrative access, in addition to their other users.'),
  tolerations: field(6, listOf(DeviceToleration), 'Taints of devices that are tolerated.'),
  capacity: pointer(7, CapacityRequirements, 'How much of a shared device is wanted.'),
});
export type ExactDeviceRequest = Infer<typeof ExactDeviceRequest>;

export const DeviceSubRequest = object(
  'io.k8s.api.resource.v1.DeviceSubRequest',
  'Devices that are wanted, as one of several alternatives.',
  {
    name: required(1, string, 'The name.'),
    deviceClassName: required(2, string, 'Their class.'),
    selectors: field(3, listOf(DeviceSelector), 'What they must satisfy besides.'),
    allocationMode: field(4, named('v1.DeviceAllocationMode'), 'ExactCount (the default), or All.'),
    count: field(5, int64, 'How many. 1 by default.'),
    tolerations: field(6, listOf(DeviceToleration), 'Taints of devices that are tolerated.'),
    capacity: pointer(7, CapacityRequirements, 'How much of a shared device is wanted.'),
  },
);
export type DeviceSubRequest = Infer<typeof DeviceSubRequest>;

export const DeviceRequest = object('io.k8s.api.resource.v1.DeviceRequest', 'A device that is wanted, or alternatives.', {
  name: required(1, string, 'The name.'),
  exactly: pointer(2, ExactDeviceRequest, 'The device, without alternatives.'),
  firstAvailable: field(3, listOf(DeviceSubRequest), 'Alternatives, of which the first that can be had is taken.'),
});
export type DeviceRequest = Infer<typeof DeviceRequest>;

export const DeviceConstraint = object('io.k8s.api.resource.v1.DeviceConstraint', 'What devices must have in common.', {
  requests: field(1, listOf(string), 'The requests that it is about; all when empty.'),
  matchAttribute: pointer(2, named('v1.FullyQualifiedName'), 'The attribute that must be the same.'),
  distinctAttribute: pointer(3, named('v1.FullyQualifiedName'), 'The attribute that must differ.'),
});
export type DeviceConstraint = Infer<typeof DeviceConstraint>;

export const DeviceClaimConfiguration = object('io.k8s.api.resource.v1.DeviceClaimConfiguration', 'Settings for devices of a claim.', {
  requests: field(1, listOf(string), 'The requests that it is about; all when empty.'),
  ...inlined(2, DeviceConfiguration),
});
export type DeviceClaimConfiguration = Infer<typeof DeviceClaimConfiguration>;

export const DeviceClaim = object('io.k8s.api.resource.v1.DeviceClaim', 'Devices that are wanted.', {
  requests: always(1, listOf(DeviceRequest), 'The devices, one by one.'),
  constraints: field(2, listOf(DeviceConstraint), 'What the devices must have in common.'),
  config: field(3, listOf(DeviceClaimConfiguration), 'Settings for the drivers.'),
});
export type DeviceClaim = Infer<typeof DeviceClaim>;

export const ResourceClaimSpec = object('io.k8s.api.resource.v1.ResourceClaimSpec', 'What is wanted.', {
  devices: always(1, DeviceClaim, 'The devices.'),
});
export type ResourceClaimSpec = Infer<typeof ResourceClaimSpec>;
