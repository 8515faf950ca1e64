import { NodeSelector } from '../../core/v1/node-selector/node-selector.ts';
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
  named,
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

export const DeviceRequestAllocationResult = object(
  'io.k8s.api.resource.v1.DeviceRequestAllocationResult',
  'A device that was allocated.',
  {
    request: required(1, string, 'The request that it is for.'),
    driver: required(2, string, 'The driver.'),
    pool: required(3, string, 'The pool that it is from.'),
    device: required(4, string, 'The device.'),
    adminAccess: pointer(5, bool, 'Whether the device was allocated for administrative access.'),
    tolerations: field(6, listOf(DeviceToleration), 'Taints that are tolerated.'),
    // Like those of devices.
    bindingConditions: pointer(7, listOf(string), 'What must be true of the device before pods start.'),
    bindingFailureConditions: pointer(8, listOf(string), 'What, being true, makes the allocation fail.'),
    shareID: pointer(9, named('types.UID'), 'Which share of the device it is.'),
    consumedCapacity: field(10, named('map[v1.QualifiedName]resource.Quantity', mapOf(quantity)), 'How much of the device it takes.'),
  },
);
export type DeviceRequestAllocationResult = Infer<typeof DeviceRequestAllocationResult>;

export const DeviceAllocationConfiguration = object(
  'io.k8s.api.resource.v1.DeviceAllocationConfiguration',
  'Settings for allocated devices.',
  {
    source: required(1, named('v1.AllocationConfigSource'), 'FromClass or FromClaim.'),
    requests: field(2, listOf(string), 'The requests that it is about; all when empty.'),
    ...inlined(3, DeviceConfiguration),
  },
);
export type DeviceAllocationConfiguration = Infer<typeof DeviceAllocationConfiguration>;

export const DeviceAllocationResult = object('io.k8s.api.resource.v1.DeviceAllocationResult', 'Devices that were allocated.', {
  results: field(1, listOf(DeviceRequestAllocationResult), 'The devices.'),
  config: field(2, listOf(DeviceAllocationConfiguration), 'Settings for the drivers.'),
});
export type DeviceAllocationResult = Infer<typeof DeviceAllocationResult>;

export const AllocationResult = object('io.k8s.api.resource.v1.AllocationResult', 'What was allocated.', {
  devices: always(1, DeviceAllocationResult, 'The devices.'),
  nodeSelector: pointer(3, NodeSelector, 'The nodes that can use them.'),
  allocationTimestamp: pointer(5, time, 'When.'),
});
export type AllocationResult = Infer<typeof AllocationResult>;

export const ResourceClaimConsumerReference = object('io.k8s.api.resource.v1.ResourceClaimConsumerReference', 'Who uses a claim.', {
  apiGroup: field(1, string, "The API group; '' for the core group."),
  resource: required(3, string, 'The resource, such as pods.'),
  name: required(4, string, 'The name.'),
  uid: required(5, named('types.UID'), 'The unique id.'),
});
export type ResourceClaimConsumerReference = Infer<typeof ResourceClaimConsumerReference>;

export const NetworkDeviceData = object('io.k8s.api.resource.v1.NetworkDeviceData', 'A network device.', {
  interfaceName: field(1, string, 'The name of the interface in the pod.'),
  ips: field(2, listOf(string), 'Its addresses, as CIDRs.'),
  hardwareAddress: field(3, string, 'Its hardware address.'),
});
export type NetworkDeviceData = Infer<typeof NetworkDeviceData>;

export const AllocatedDeviceStatus = object('io.k8s.api.resource.v1.AllocatedDeviceStatus', 'What a driver reports of a device.', {
  driver: required(1, string, 'The driver.'),
  pool: required(2, string, 'The pool that it is from.'),
  device: required(3, string, 'The device.'),
  shareID: pointer(7, string, 'Which share of the device it is.'),
  conditions: always(4, mapListOf(Condition, 'type'), 'What is known of its state.'),
  data: pointer(5, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), "Anything, in the driver's own form."),
  networkData: pointer(6, NetworkDeviceData, 'What a network device is called and where it is.'),
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
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, ResourceClaimSpec, 'What is wanted. Cannot be changed.'),
    status: always(3, ResourceClaimStatus, 'What was allocated, and to whom.'),
  },
);
export type ResourceClaim = Infer<typeof ResourceClaim>;
