import { core, type resource } from '#api';
import { compareBytes } from '#machinery';

export type Slice = resource.ResourceSlice;

/** Devices of one driver that are managed together, as far as a node can reach them. */
export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  /** Some of its slices are missing: its devices may be wrong. */
  readonly isIncomplete: boolean;
  /** Its slices contradict each other. */
  readonly isInvalid: boolean;
  readonly devices: readonly OfferedDevice[];
  /** All slices of the pool, including those that the node cannot use. */
  readonly slices: readonly Slice[];
  /** Whether devices consume shared counters of the pool. */
  readonly sharesCounters: boolean;
}

export interface OfferedDevice {
  readonly id: string;
  readonly device: resource.Device;
  readonly slice: Slice;
}

export function deviceId(driver: string, pool: string, device: string): string {
  return `${driver}/${pool}/${device}`;
}

interface Reach {
  readonly nodeName?: string | undefined;
  readonly allNodes?: boolean | undefined;
  readonly nodeSelector?: core.NodeSelector | undefined;
}

function reaches({ nodeName, allNodes, nodeSelector }: Reach, node: core.SelectableNode): boolean {
  if (nodeName) return nodeName === node.name;
  return allNodes === true || core.compileNodeSelector(nodeSelector)?.matches(node) === true;
}

/** The slices of all pools, by the nodes that can reach them: most belong to one node, and need not be evaluated for others. */
export class PoolIndex {
  readonly #byNode = new Map<string, Pool[]>();
  readonly #others: Pool[] = [];

  constructor(readonly slices: readonly Slice[]) {
    for (const all of byPool(slices).values()) this.#add({ slices: all, devices: undefined });
  }

  /** This index if the slices are unchanged, else a new one. */
  following(slices: readonly Slice[]): PoolIndex {
    const isSame = slices.length === this.slices.length && slices.every((slice, i) => slice === this.slices[i]);
    return isSame ? this : new PoolIndex(slices);
  }

  #add(pool: Pool): void {
    const nodeName = onlyNodeOf(pool.slices);
    const pools = nodeName === undefined ? this.#others : this.#byNode.get(nodeName);
    if (pools === undefined) this.#byNode.set(nodeName!, [pool]);
    else pools.push(pool);
  }

  /** The pools with devices for the node, in search order; those with binding conditions come last. */
  poolsFor(node: core.SelectableNode): readonly DevicePool[] {
    const pools: DevicePool[] = [];
    for (const pool of this.#byNode.get(node.name) ?? []) {
      pool.devices ??= poolOf(pool.slices, pool.slices, node);
      pools.push(pool.devices);
    }
    for (const { slices } of this.#others) {
      const useful = slices.filter((slice) => isUseful(slice, node));
      if (useful.length > 0) pools.push(poolOf(slices, useful, node));
    }
    return pools.sort(
      (a, b) =>
        Number(needsPreparation(a)) - Number(needsPreparation(b)) || compareBytes(a.driver, b.driver) || compareBytes(a.name, b.name),
    );
  }
}

interface Pool {
  readonly slices: readonly Slice[];
  /** Of a pool that one node alone can reach: what that node sees of it. */
  devices: DevicePool | undefined;
}

/** The node that alone can reach the pool's devices. */
function onlyNodeOf(slices: readonly Slice[]): string | undefined {
  const nodeName = slices[0]?.spec.nodeName;
  const isOnly = slices.every(
    ({ spec }) => spec.nodeName === nodeName && spec.perDeviceNodeSelection !== true && (spec.sharedCounters?.length ?? 0) === 0,
  );
  return isOnly && nodeName ? nodeName : undefined;
}

/** The slices of each pool that are of its newest generation. */
function byPool(slices: readonly Slice[]): ReadonlyMap<string, readonly Slice[]> {
  const pools = new Map<string, Slice[]>();
  for (const slice of slices) {
    const { driver, pool } = slice.spec;
    const key = `${driver}/${pool.name}`;
    const existing = pools.get(key);
    const newest = Number(existing?.[0]?.spec.pool.generation ?? -1);
    if (existing === undefined || Number(pool.generation) > newest) pools.set(key, [slice]);
    else if (Number(pool.generation) === newest) existing.push(slice);
  }
  return pools;
}

function isUseful({ spec }: Slice, node: core.SelectableNode): boolean {
  // Devices elsewhere in the pool may consume its shared counters.
  if ((spec.sharedCounters?.length ?? 0) > 0) return true;
  if (spec.perDeviceNodeSelection === true) return (spec.devices ?? []).some((device) => reaches(device, node));
  return reaches(spec, node);
}

function poolOf(all: readonly Slice[], useful: readonly Slice[], node: core.SelectableNode): DevicePool {
  const [first] = all as readonly [Slice, ...Slice[]];
  const { driver, pool } = first.spec;
  const isIncomplete = all.length !== Number(pool.resourceSliceCount);
  const sorted = [...useful].sort((a, b) => compareBytes(a.metadata.name, b.metadata.name));
  const offered = sorted.flatMap((slice) => offeredBy(slice, node));
  const names = sorted.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name));
  const isInvalid = !isIncomplete && (new Set(names).size !== names.length || !haveCounters(all));
  const sharesCounters = all.some(({ spec }) => (spec.sharedCounters?.length ?? 0) > 0);
  const devices = isIncomplete || isInvalid ? [] : offered;
  return { driver, name: pool.name, isIncomplete, isInvalid, devices, slices: all, sharesCounters };
}

function offeredBy(slice: Slice, node: core.SelectableNode): readonly OfferedDevice[] {
  const { driver, pool, perDeviceNodeSelection, devices = [] } = slice.spec;
  const usable = perDeviceNodeSelection === true ? devices.filter((device) => reaches(device, node)) : devices;
  return usable.map((device) => ({ id: deviceId(driver, pool.name, device.name), device, slice }));
}

/** Whether all consumed shared counters exist. */
function haveCounters(slices: readonly Slice[]): boolean {
  const sets = slices.flatMap(({ spec }) => spec.sharedCounters ?? []);
  const counterSets = new Map(sets.map(({ name, counters }) => [name, counters]));
  if (counterSets.size !== sets.length) return false;
  const consumed = slices.flatMap(({ spec }) => (spec.devices ?? []).flatMap(({ consumesCounters }) => consumesCounters ?? []));
  return consumed.every(({ counterSet, counters }) => {
    const set = counterSets.get(counterSet);
    return set !== undefined && Object.keys(counters ?? {}).every((name) => set?.[name] !== undefined);
  });
}

function needsPreparation({ devices }: DevicePool): boolean {
  return devices.some(({ device }) => (device.bindingConditions?.length ?? 0) > 0);
}
