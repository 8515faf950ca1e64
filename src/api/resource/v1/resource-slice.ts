import { NodeSelector } from '../../core/v1/node-selector/node-selector.ts';
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
  named,
  nullable,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema.ts';

export const ResourcePool = object('io.k8s.api.resource.v1.ResourcePool', 'A pool of devices, published in one or more slices.', {
  name: required(1, string, 'The name.'),
  generation: required(2, int64, 'Which telling of the pool this is: only the newest counts.'),
  resourceSliceCount: required(3, int64, 'The number of slices of the pool.'),
});
export type ResourcePool = Infer<typeof ResourcePool>;

export const DeviceAttribute = object('io.k8s.api.resource.v1.DeviceAttribute', 'An attribute of a device. Exactly one member is set.', {
  int: pointer(2, int64, 'A number.'),
  bool: pointer(3, bool, 'True or false.'),
  string: pointer(4, string, 'A text.'),
  version: pointer(5, string, 'A semantic version.'),
  ints: field(6, listOf(int64), 'Numbers.'),
  bools: field(7, listOf(bool), 'Truth values.'),
  strings: field(8, listOf(string), 'Texts.'),
  versions: field(9, listOf(string), 'Semantic versions.'),
});
export type DeviceAttribute = Infer<typeof DeviceAttribute>;

export const CapacityRequestPolicyRange = object('io.k8s.api.resource.v1.CapacityRequestPolicyRange', 'A range of amounts.', {
  min: pointer(1, quantity, 'The least.', { required: true }),
  max: pointer(2, quantity, 'The most.'),
  step: pointer(3, quantity, 'What amounts are rounded up to a multiple of.'),
});
export type CapacityRequestPolicyRange = Infer<typeof CapacityRequestPolicyRange>;

export const CapacityRequestPolicy = object(
  'io.k8s.api.resource.v1.CapacityRequestPolicy',
  'The amounts of a capacity that can be requested.',
  {
    default: nullable(1, quantity, 'The amount used if the request names none.'),
    validValues: field(3, listOf(quantity), 'The amounts that can be requested.'),
    validRange: pointer(4, CapacityRequestPolicyRange, 'The range of amounts that can be requested.'),
  },
);
export type CapacityRequestPolicy = Infer<typeof CapacityRequestPolicy>;

export const DeviceCapacity = object('io.k8s.api.resource.v1.DeviceCapacity', 'Something that a device has so much of.', {
  value: required(1, quantity, 'How much.'),
  requestPolicy: pointer(2, CapacityRequestPolicy, 'The amounts that can be requested.'),
});
export type DeviceCapacity = Infer<typeof DeviceCapacity>;

export const Counter = object('io.k8s.api.resource.v1.Counter', 'An amount.', {
  value: required(1, quantity, 'How much.'),
});
export type Counter = Infer<typeof Counter>;

export const DeviceCounterConsumption = object(
  'io.k8s.api.resource.v1.DeviceCounterConsumption',
  'What a device takes from shared amounts.',
  {
    counterSet: required(1, string, 'The set of amounts.'),
    counters: field(2, mapOf(Counter), 'How much of each.', { required: true }),
  },
);
export type DeviceCounterConsumption = Infer<typeof DeviceCounterConsumption>;

export const DeviceTaint = object('io.k8s.api.resource.v1.DeviceTaint', 'Keeps claims away from a device unless they tolerate it.', {
  key: required(1, string, 'The key.'),
  value: field(2, string, 'The value that belongs to the key.'),
  effect: required(3, named('v1.DeviceTaintEffect'), 'None, NoSchedule or NoExecute.'),
  timeAdded: pointer(4, time, 'When the taint was added.'),
});
export type DeviceTaint = Infer<typeof DeviceTaint>;

export const NodeAllocatableResourceMapping = object(
  'io.k8s.api.resource.v1.NodeAllocatableResourceMapping',
  'What a device takes from a resource of the node.',
  {
    capacityKey: pointer(1, named('v1.QualifiedName'), 'The capacity of the device that counts.'),
    allocationMultiplier: pointer(2, quantity, 'The amount of the resource for each unit.'),
  },
);
export type NodeAllocatableResourceMapping = Infer<typeof NodeAllocatableResourceMapping>;

export const Device = object('io.k8s.api.resource.v1.Device', 'A device.', {
  name: required(1, string, 'The name.'),
  attributes: field(2, named('map[v1.QualifiedName]v1.DeviceAttribute', mapOf(DeviceAttribute)), 'What it is, by name.'),
  capacity: field(3, named('map[v1.QualifiedName]v1.DeviceCapacity', mapOf(DeviceCapacity)), 'What it has, by name.'),
  consumesCounters: field(4, listOf(DeviceCounterConsumption), 'What it takes from shared amounts.'),
  nodeName: pointer(5, string, 'The node that has it.'),
  nodeSelector: pointer(6, NodeSelector, 'The nodes that can reach it.'),
  allNodes: pointer(7, bool, 'Whether all nodes can reach it.'),
  taints: field(8, listOf(DeviceTaint), 'What keeps claims away that do not tolerate it.'),
  bindsToNode: pointer(9, bool, 'Whether its allocation ties the claim to the node.'),
  // Like pointers, since failures print whether an empty list was given; none is stored.
  bindingConditions: pointer(10, listOf(string), 'What must be true of the device before pods start.'),
  bindingFailureConditions: pointer(11, listOf(string), 'What, being true, makes the allocation fail.'),
  allowMultipleAllocations: pointer(12, bool, 'Whether it can be shared.'),
  nodeAllocatableResourceMappings: field(
    13,
    named('map[v1.ResourceName]v1.NodeAllocatableResourceMapping', mapOf(NodeAllocatableResourceMapping)),
    "What it takes from the node's own resources.",
  ),
});
export type Device = Infer<typeof Device>;

export const CounterSet = object('io.k8s.api.resource.v1.CounterSet', 'Amounts that devices share.', {
  name: required(1, string, 'The name.'),
  counters: field(2, mapOf(Counter), 'The amounts, by name.', { required: true }),
});
export type CounterSet = Infer<typeof CounterSet>;

export const ResourceSliceSpec = object('io.k8s.api.resource.v1.ResourceSliceSpec', 'Devices that a driver offers.', {
  driver: required(1, string, 'The driver.'),
  pool: required(2, ResourcePool, 'The pool that the devices belong to.'),
  nodeName: pointer(3, string, 'The node that has them.'),
  nodeSelector: pointer(4, NodeSelector, 'The nodes that can reach them.'),
  allNodes: pointer(5, bool, 'Whether all nodes can reach them.'),
  devices: field(6, listOf(Device), 'The devices.'),
  perDeviceNodeSelection: pointer(7, bool, 'Whether each device has a node selection of its own.'),
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
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, ResourceSliceSpec, 'The devices.'),
  },
);
export type ResourceSlice = Infer<typeof ResourceSlice>;
