import { field, type MessageInput, message, optional, repeated } from '#base';

/** Messages of the pod resources API v1, with the published field numbers. */
const NOTHING = message({});
const Topology = message({ nodes: repeated(1, message({ id: field(1, 'int64') })) });
const Devices = message({ resourceName: field(1, 'string'), deviceIds: repeated(2, 'string'), topology: field(3, Topology) });
const Memory = message({ memoryType: field(1, 'string'), size: field(2, 'uint64'), topology: field(3, Topology) });
const ClaimResource = message({
  cdiDevices: repeated(1, message({ name: field(1, 'string') })),
  driverName: field(2, 'string'),
  poolName: field(3, 'string'),
  deviceName: field(4, 'string'),
  shareId: optional(5, 'string'),
});
const DynamicResource = message({
  claimName: field(2, 'string'),
  claimNamespace: field(3, 'string'),
  claimResources: repeated(4, ClaimResource),
});
const ContainerResources = message({
  name: field(1, 'string'),
  devices: repeated(2, Devices),
  cpuIds: repeated(3, 'int64'),
  memory: repeated(4, Memory),
  dynamicResources: repeated(5, DynamicResource),
});
const PodResources = message({ name: field(1, 'string'), namespace: field(2, 'string'), containers: repeated(3, ContainerResources) });
export type PodResourcesMessage = MessageInput<typeof PodResources>;
export type ContainerResourcesMessage = MessageInput<typeof ContainerResources>;

export const ListPodResources = {
  name: 'v1.PodResourcesLister/List',
  request: NOTHING,
  response: message({ podResources: repeated(1, PodResources) }),
};

export const GetAllocatableResources = {
  name: 'v1.PodResourcesLister/GetAllocatableResources',
  request: NOTHING,
  response: message({ devices: repeated(1, Devices), cpuIds: repeated(2, 'int64'), memory: repeated(3, Memory) }),
};
export type AllocatableResourcesMessage = MessageInput<(typeof GetAllocatableResources)['response']>;

export const GetPodResources = {
  name: 'v1.PodResourcesLister/Get',
  request: message({ podName: field(1, 'string'), podNamespace: field(2, 'string') }),
  response: message({ podResources: field(1, PodResources) }),
};
