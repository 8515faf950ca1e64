import { minOf } from '#base';
import { masksOf, nodesOf, type TopologyHint } from '../resources/topology-hints.ts';
import type { NodeDevice } from './device-endpoint.ts';

export type Devices = ReadonlyMap<string, NodeDevice>;

export interface DeviceRequest {
  readonly amount: number;
  readonly devices: Devices;
  /** Healthy, unallocated devices. */
  readonly free: readonly string[];
}

/** Topology hints for a number of devices; undefined: no topology. Pure. */
export function deviceHints(machineNodes: readonly number[], request: DeviceRequest): readonly TopologyHint[] | undefined {
  const { amount, devices, free } = request;
  if (![...devices.values()].some(({ numaNodes }) => numaNodes.length > 0)) return undefined;
  const inMask = (mask: number, ids: Iterable<string>) => [...ids].filter((id) => isIn(devices.get(id), mask)).length;
  const masks = masksOf(machineNodes);
  const able = masks.filter((mask) => inMask(mask, devices.keys()) >= amount);
  const least = minOf(able.map((mask) => nodesOf(mask).length));
  return able.filter((mask) => inMask(mask, free) >= amount).map((mask) => ({ nodes: mask, isPreferred: nodesOf(mask).length === least }));
}

/** Devices on the hinted NUMA nodes first, then those without topology, then the others. Pure. */
export function devicesInOrder({ devices, free }: DeviceRequest, { nodes }: TopologyHint) {
  const rank = (id: string) => {
    const device = devices.get(id);
    if (nodes === undefined || isIn(device, nodes)) return 0;
    return device?.numaNodes.length === 0 ? 1 : 2;
  };
  const sorted = free.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return { sorted, aligned: sorted.filter((id) => rank(id) === 0) };
}

function isIn(device: NodeDevice | undefined, mask: number): boolean {
  return (device?.numaNodes ?? []).some((node) => (mask >> node) & 1);
}
