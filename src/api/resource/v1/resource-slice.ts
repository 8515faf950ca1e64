import { NodeSelector } from '../../core/v1/node-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  int64,
  kind,
  listOf,
  mapOf,
  nullable,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema.ts';

export const ResourcePool = object('io.k8s.api.resource.v1.ResourcePool', '', {
  name: required(1, string, 'The name.'),
  generation: required(2, int64),
  resourceSliceCount: required(3, int64),
});
export type ResourcePool = Infer<typeof ResourcePool>;

export const DeviceAttribute = object('io.k8s.api.resource.v1.DeviceAttribute', '', {
  int: pointer(2, int64),
  bool: pointer(3, bool),
  string: pointer(4, string),
  version: pointer(5, string),
  ints: field(6, listOf(int64)),
  bools: field(7, listOf(bool)),
  strings: field(8, listOf(string)),
  versions: field(9, listOf(string)),
});
export type DeviceAttribute = Infer<typeof DeviceAttribute>;

export const CapacityRequestPolicyRange = object('io.k8s.api.resource.v1.CapacityRequestPolicyRange', '', {
  min: pointer(1, quantity, '', { required: true }),
  max: pointer(2, quantity),
  step: pointer(3, quantity),
});
export type CapacityRequestPolicyRange = Infer<typeof CapacityRequestPolicyRange>;

export const CapacityRequestPolicy = object('io.k8s.api.resource.v1.CapacityRequestPolicy', '', {
  default: nullable(1, quantity),
  validValues: field(3, listOf(quantity)),
  validRange: pointer(4, CapacityRequestPolicyRange),
});
export type CapacityRequestPolicy = Infer<typeof CapacityRequestPolicy>;

export const DeviceCapacity = object('io.k8s.api.resource.v1.DeviceCapacity', '', {
  value: required(1, quantity),
  requestPolicy: pointer(2, CapacityRequestPolicy),
});
export type DeviceCapacity = Infer<typeof DeviceCapacity>;

export const Counter = object('io.k8s.api.resource.v1.Counter', '', {
  value: required(1, quantity),
});
export type Counter = Infer<typeof Counter>;

export const DeviceCounterConsumption = object('io.k8s.api.resource.v1.DeviceCounterConsumption', '', {
  counterSet: required(1, string),
  counters: field(2, mapOf(Counter), '', { required: true }),
});
export type DeviceCounterConsumption = Infer<typeof DeviceCounterConsumption>;

export const DeviceTaint = object('io.k8s.api.resource.v1.DeviceTaint', '', {
  key: required(1, string, 'The key.'),
  value: field(2, string),
  effect: required(3, string),
  timeAdded: pointer(4, time),
});
export type DeviceTaint = Infer<typeof DeviceTaint>;

export const NodeAllocatableResourceMapping = object('io.k8s.api.resource.v1.NodeAllocatableResourceMapping', '', {
  capacityKey: pointer(1, string),
  allocationMultiplier: pointer(2, quantity),
});
export type NodeAllocatableResourceMapping = Infer<typeof NodeAllocatableResourceMapping>;

export const Device = object('io.k8s.api.resource.v1.Device', '', {
  name: required(1, string, 'The name.'),
  attributes: field(2, mapOf(DeviceAttribute)),
  capacity: field(3, mapOf(DeviceCapacity)),
  consumesCounters: field(4, listOf(DeviceCounterConsumption)),
  nodeName: pointer(5, string),
  nodeSelector: pointer(6, NodeSelector),
  allNodes: pointer(7, bool),
  taints: field(8, listOf(DeviceTaint)),
  bindsToNode: pointer(9, bool),
  bindingConditions: field(10, listOf(string)),
  bindingFailureConditions: field(11, listOf(string)),
  allowMultipleAllocations: pointer(12, bool),
  nodeAllocatableResourceMappings: field(13, mapOf(NodeAllocatableResourceMapping)),
});
export type Device = Infer<typeof Device>;

export const CounterSet = object('io.k8s.api.resource.v1.CounterSet', '', {
  name: required(1, string, 'The name.'),
  counters: field(2, mapOf(Counter), '', { required: true }),
});
export type CounterSet = Infer<typeof CounterSet>;

export const ResourceSliceSpec = object('io.k8s.api.resource.v1.ResourceSliceSpec', 'Devices that a driver offers.', {
  driver: required(1, string, 'The driver.'),
  pool: required(2, ResourcePool, 'The pool that the devices belong to.'),
  nodeName: pointer(3, string, 'The node that has them.'),
  nodeSelector: pointer(4, NodeSelector, 'The nodes that can reach them.'),
  allNodes: pointer(5, bool, 'Whether all nodes can reach them.'),
  devices: field(6, listOf(Device), 'The devices.'),
  perDeviceNodeSelection: pointer(7, bool, 'Whether each device says by itself who can reach it.'),
  sharedCounters: field(8, listOf(CounterSet), 'Amounts that devices of the pool share.'),
});
export type ResourceSliceSpec = Infer<typeof ResourceSliceSpec>;

export const ResourceSlice = kind(
  {
    name: 'io.k8s.api.resource.v1.ResourceSlice',
    group: 'resource.k8s.io',
    version: 'v1',
    kind: 'ResourceSlice',
    resource: 'resourceslices',
    namespaced: false,
  },
  'Devices that a driver offers.',
  {
    metadata: always(1, ObjectMeta, 'Standard object metadata.'),
    spec: required(2, ResourceSliceSpec, 'The devices.'),
  },
);
export type ResourceSlice = Infer<typeof ResourceSlice>;
