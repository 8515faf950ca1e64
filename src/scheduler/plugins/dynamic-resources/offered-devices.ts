import type { core, resource } from '#api';
import { compareBytes } from '#machinery';
import { compileNodeSelector, type SelectableNode } from '../../framework/node-selector.ts';

export type Slice = resource.ResourceSlice;

/** Devices of one driver that are managed together, as far as a node can reach them. */
export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  /** Some of its slices are not there yet: what is known of it may be wrong. */
  readonly isIncomplete: boolean;
  /** Its slices contradict each other. */
  readonly isInvalid: boolean;
  readonly devices: readonly OfferedDevice[];
  /** All slices of the pool, those included that are of no use to the node. */
  readonly slices: readonly Slice[];
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

function reaches({ nodeName, allNodes, nodeSelector }: Reach, node: SelectableNode): boolean {
  if (nodeName) return nodeName === node.name;
  return allNodes === true || compileNodeSelector(nodeSelector)?.matches(node) === true;
}

/** The pools with something for the node, in the order in which they are searched; those whose devices must be got ready come last. */
export function poolsFor(node: SelectableNode, slices: readonly Slice[]): readonly DevicePool[] {
  const pools = [...byPool(slices).values()].flatMap((pool) => {
    const useful = pool.filter((slice) => isUseful(slice, node));
    return useful.length === 0 ? [] : [poolOf(pool, useful, node)];
  });
  return pools.sort(
    (a, b) => Number(needsPreparation(a)) - Number(needsPreparation(b)) || compareBytes(a.driver, b.driver) || compareBytes(a.name, b.name),
  );
}

/** The slices of each pool that are of its newest generation. */
function byPool(slices: readonly Slice[]): ReadonlyMap<string, readonly Slice[]> {
  const pools = new Map<string, Slice[]>();
  for (const slice of slices) {
    const { driver, pool } = slice.spec;
    const key = `${driver}/${pool.name}`;
    const known = pools.get(key);
    const newest = Number(known?.[0]?.spec.pool.generation ?? -1);
    if (known === undefined || Number(pool.generation) > newest) pools.set(key, [slice]);
    else if (Number(pool.generation) === newest) known.push(slice);
  }
  return pools;
}

function isUseful({ spec }: Slice, node: SelectableNode): boolean {
  // Devices elsewhere in the pool may take from what it shares.
  if ((spec.sharedCounters?.length ?? 0) > 0) return true;
  if (spec.perDeviceNodeSelection === true) return (spec.devices ?? []).some((device) => reaches(device, node));
  return reaches(spec, node);
}

function poolOf(all: readonly Slice[], useful: readonly Slice[], node: SelectableNode): DevicePool {
  const [first] = all as readonly [Slice, ...Slice[]];
  const { driver, pool } = first.spec;
  const isIncomplete = all.length !== Number(pool.resourceSliceCount);
  const sorted = [...useful].sort((a, b) => compareBytes(a.metadata.name, b.metadata.name));
  const offered = sorted.flatMap((slice) => offeredBy(slice, node));
  const names = sorted.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name));
  const isInvalid = !isIncomplete && (new Set(names).size !== names.length || !haveCounters(all));
  return { driver, name: pool.name, isIncomplete, isInvalid, devices: isIncomplete || isInvalid ? [] : offered, slices: all };
}

function offeredBy(slice: Slice, node: SelectableNode): readonly OfferedDevice[] {
  const { driver, pool, perDeviceNodeSelection, devices = [] } = slice.spec;
  const usable = perDeviceNodeSelection === true ? devices.filter((device) => reaches(device, node)) : devices;
  return usable.map((device) => ({ id: deviceId(driver, pool.name, device.name), device, slice }));
}

/** Whether all that devices take from shared amounts is there to be taken from. */
function haveCounters(slices: readonly Slice[]): boolean {
  const sets = slices.flatMap(({ spec }) => spec.sharedCounters ?? []);
  const known = new Map(sets.map(({ name, counters }) => [name, counters]));
  if (known.size !== sets.length) return false;
  const consumed = slices.flatMap(({ spec }) => (spec.devices ?? []).flatMap(({ consumesCounters }) => consumesCounters ?? []));
  return consumed.every(({ counterSet, counters }) => {
    const set = known.get(counterSet);
    return set !== undefined && Object.keys(counters ?? {}).every((name) => set?.[name] !== undefined);
  });
}

function needsPreparation({ devices }: DevicePool): boolean {
  return devices.some(({ device }) => (device.bindingConditions?.length ?? 0) > 0);
}
