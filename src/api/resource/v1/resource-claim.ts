import { NodeSelector } from '../../core/v1/node-selector.ts';
import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  anyObject,
  bool,
  field,
  type Infer,
  inlined,
  kind,
  listOf,
  mapListOf,
  mapOf,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema.ts';
import { DeviceConfiguration } from './device-configuration.ts';
import { DeviceToleration } from './device-toleration.ts';
import { ResourceClaimSpec } from './resource-claim-spec.ts';

export const DeviceRequestAllocationResult = object('io.k8s.api.resource.v1.DeviceRequestAllocationResult', '', {
  request: required(1, string),
  driver: required(2, string, 'The driver.'),
  pool: required(3, string),
  device: required(4, string),
  adminAccess: pointer(5, bool),
  tolerations: field(6, listOf(DeviceToleration)),
  bindingConditions: field(7, listOf(string)),
  bindingFailureConditions: field(8, listOf(string)),
  shareID: pointer(9, string),
  consumedCapacity: field(10, mapOf(quantity)),
});
export type DeviceRequestAllocationResult = Infer<typeof DeviceRequestAllocationResult>;

export const DeviceAllocationConfiguration = object('io.k8s.api.resource.v1.DeviceAllocationConfiguration', '', {
  source: required(1, string),
  requests: field(2, listOf(string)),
  ...inlined(3, DeviceConfiguration),
});
export type DeviceAllocationConfiguration = Infer<typeof DeviceAllocationConfiguration>;

export const DeviceAllocationResult = object('io.k8s.api.resource.v1.DeviceAllocationResult', '', {
  results: field(1, listOf(DeviceRequestAllocationResult)),
  config: field(2, listOf(DeviceAllocationConfiguration)),
});
export type DeviceAllocationResult = Infer<typeof DeviceAllocationResult>;

export const AllocationResult = object('io.k8s.api.resource.v1.AllocationResult', '', {
  devices: always(1, DeviceAllocationResult),
  nodeSelector: pointer(3, NodeSelector),
  allocationTimestamp: pointer(5, time),
});
export type AllocationResult = Infer<typeof AllocationResult>;

export const ResourceClaimConsumerReference = object('io.k8s.api.resource.v1.ResourceClaimConsumerReference', '', {
  apiGroup: field(1, string),
  resource: required(3, string),
  name: required(4, string, 'The name.'),
  uid: required(5, string, 'The unique id.'),
});
export type ResourceClaimConsumerReference = Infer<typeof ResourceClaimConsumerReference>;

export const NetworkDeviceData = object('io.k8s.api.resource.v1.NetworkDeviceData', '', {
  interfaceName: field(1, string),
  ips: field(2, listOf(string)),
  hardwareAddress: field(3, string),
});
export type NetworkDeviceData = Infer<typeof NetworkDeviceData>;

export const AllocatedDeviceStatus = object('io.k8s.api.resource.v1.AllocatedDeviceStatus', '', {
  driver: required(1, string, 'The driver.'),
  pool: required(2, string),
  device: required(3, string),
  shareID: pointer(7, string),
  conditions: always(4, mapListOf(Condition, 'type'), 'What is known of its state.'),
  data: pointer(5, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
  networkData: pointer(6, NetworkDeviceData),
});
export type AllocatedDeviceStatus = Infer<typeof AllocatedDeviceStatus>;

export const ResourceClaimStatus = object('io.k8s.api.resource.v1.ResourceClaimStatus', 'What was allocated, and to whom.', {
  allocation: pointer(1, AllocationResult, 'What was allocated.'),
  reservedFor: field(2, mapListOf(ResourceClaimConsumerReference, 'uid'), 'Who may use it, usually pods.', { merge: 'uid' }),
  devices: field(4, mapListOf(AllocatedDeviceStatus, 'driver', 'device', 'pool', 'shareID'), 'What drivers report of the devices.'),
});
export type ResourceClaimStatus = Infer<typeof ResourceClaimStatus>;

export const ResourceClaim = kind(
  {
    name: 'io.k8s.api.resource.v1.ResourceClaim',
    group: 'resource.k8s.io',
    version: 'v1',
    kind: 'ResourceClaim',
    resource: 'resourceclaims',
    namespaced: true,
  },
  'A request for devices, such as GPUs.',
  {
    metadata: always(1, ObjectMeta, 'Standard object metadata.'),
    spec: required(2, ResourceClaimSpec, 'What is wanted. Cannot be changed.'),
    status: always(3, ResourceClaimStatus, 'What was allocated, and to whom.'),
  },
);
export type ResourceClaim = Infer<typeof ResourceClaim>;
