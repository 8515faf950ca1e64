import {
  always,
  bool,
  field,
  type Infer,
  inlined,
  int64,
  listOf,
  mapOf,
  object,
  pointer,
  quantity,
  required,
  string,
} from '../../schema.ts';
import { DeviceConfiguration } from './device-configuration.ts';
import { DeviceSelector } from './device-selector.ts';
import { DeviceToleration } from './device-toleration.ts';

export const CapacityRequirements = object('io.k8s.api.resource.v1.CapacityRequirements', '', {
  requests: field(1, mapOf(quantity)),
});
export type CapacityRequirements = Infer<typeof CapacityRequirements>;

export const ExactDeviceRequest = object('io.k8s.api.resource.v1.ExactDeviceRequest', '', {
  deviceClassName: required(1, string),
  selectors: field(2, listOf(DeviceSelector)),
  allocationMode: field(3, string),
  count: field(4, int64),
  adminAccess: pointer(5, bool),
  tolerations: field(6, listOf(DeviceToleration)),
  capacity: pointer(7, CapacityRequirements),
});
export type ExactDeviceRequest = Infer<typeof ExactDeviceRequest>;

export const DeviceSubRequest = object('io.k8s.api.resource.v1.DeviceSubRequest', '', {
  name: required(1, string, 'The name.'),
  deviceClassName: required(2, string),
  selectors: field(3, listOf(DeviceSelector)),
  allocationMode: field(4, string),
  count: field(5, int64),
  tolerations: field(6, listOf(DeviceToleration)),
  capacity: pointer(7, CapacityRequirements),
});
export type DeviceSubRequest = Infer<typeof DeviceSubRequest>;

export const DeviceRequest = object('io.k8s.api.resource.v1.DeviceRequest', '', {
  name: required(1, string, 'The name.'),
  exactly: pointer(2, ExactDeviceRequest),
  firstAvailable: field(3, listOf(DeviceSubRequest)),
});
export type DeviceRequest = Infer<typeof DeviceRequest>;

export const DeviceConstraint = object('io.k8s.api.resource.v1.DeviceConstraint', '', {
  requests: field(1, listOf(string)),
  matchAttribute: pointer(2, string),
  distinctAttribute: pointer(3, string),
});
export type DeviceConstraint = Infer<typeof DeviceConstraint>;

export const DeviceClaimConfiguration = object('io.k8s.api.resource.v1.DeviceClaimConfiguration', '', {
  requests: field(1, listOf(string)),
  ...inlined(2, DeviceConfiguration),
});
export type DeviceClaimConfiguration = Infer<typeof DeviceClaimConfiguration>;

export const DeviceClaim = object('io.k8s.api.resource.v1.DeviceClaim', '', {
  requests: always(1, listOf(DeviceRequest)),
  constraints: field(2, listOf(DeviceConstraint)),
  config: field(3, listOf(DeviceClaimConfiguration)),
});
export type DeviceClaim = Infer<typeof DeviceClaim>;

export const ResourceClaimSpec = object('io.k8s.api.resource.v1.ResourceClaimSpec', 'What is wanted.', {
  devices: always(1, DeviceClaim, 'The devices.'),
});
export type ResourceClaimSpec = Infer<typeof ResourceClaimSpec>;
