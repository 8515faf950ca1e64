import type { core, discovery } from '#api';
import type { SliceChanges } from '../runtime/endpoints/pack-slices.ts';
import { withHints } from './hints.ts';
import { type Allocations, add, allocate, type Transfers, transfers } from './zone-allocation.ts';
import type { ZoneShares } from './zone-shares.ts';

type EndpointSlice = discovery.EndpointSlice;
type Endpoint = discovery.Endpoint;

const ANNOTATIONS = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];

/** Whether the service has topology-aware routing enabled. */
export function sharesByZone({ metadata }: core.Service): boolean {
  const mode = ANNOTATIONS.map((name) => metadata.annotations?.[name]).find((value) => value !== undefined);
  return mode === 'Auto' || mode === 'auto';
}

export interface ZoneHints {
  readonly changes: SliceChanges;
  /** The number of hints per zone, or the reason why there are none. */
  readonly result: ReadonlyMap<string, number> | string;
}

/** The changes with hints: each zone gets endpoints in proportion to its CPUs, its own first. */
export function hintZones(changes: SliceChanges, untouched: readonly EndpointSlice[], shares: ZoneShares | undefined): ZoneHints {
  const all = [...changes.create, ...changes.update, ...untouched];
  const allocations = allocate(shares, all.flatMap(readyEndpoints).length);
  if (typeof allocations === 'string') return withoutHints(changes, untouched, allocations);
  const allocated = new Map<string, number>();
  const stale = untouched.filter((slice) => !keepsHints(slice, allocated, allocations));
  const open = [...changes.create, ...changes.update, ...stale];
  if (open.flatMap(readyEndpoints).some(({ zone }) => !zone)) {
    return withoutHints(changes, untouched, 'One or more endpoints do not have a zone specified');
  }
  for (const { zone } of open.flatMap(readyEndpoints)) add(allocated, zone ?? '', 1);
  const moves = transfers(allocations, allocated);
  const hinted = new Map(open.map((slice) => [slice, hintSlice(slice, moves, allocated)]));
  if (allocated.size === 0) return withoutHints(changes, untouched, 'No hints allocated for zones');
  const create = changes.create.map((slice) => hinted.get(slice) ?? slice);
  const update = [...changes.update, ...stale].map((slice) => hinted.get(slice) ?? slice);
  return { changes: { create, update, remove: changes.remove }, result: allocated };
}

/** The changes without hints, plus updates that remove hints from otherwise unchanged slices. */
function withoutHints({ create, update, remove }: SliceChanges, untouched: readonly EndpointSlice[], detail: string): ZoneHints {
  const clear = (slices: readonly EndpointSlice[]) => slices.map((slice) => withHints(slice, undefined));
  const cleared = clear(untouched).filter((slice) => !untouched.includes(slice));
  return { changes: { create: clear(create), update: [...clear(update), ...cleared], remove }, result: detail };
}

/** Counts the hints of an unchanged slice; false unless every endpoint has one for a zone that still needs it. */
function keepsHints(slice: EndpointSlice, allocated: Map<string, number>, allocations: Allocations): boolean {
  const zones = readyEndpoints(slice).map(({ hints }) => (hints?.forZones ?? []).map(({ name }) => name));
  if (zones.some((names) => names.length === 0)) return false;
  const counts = new Map<string, number>();
  for (const zone of zones.flat()) add(counts, zone, 1);
  const fits = [...counts].every(([zone, count]) => count + (allocated.get(zone) ?? 0) <= (allocations.get(zone)?.maximum ?? -1));
  if (fits) for (const [zone, count] of counts) add(allocated, zone, count);
  return fits;
}

/** Each endpoint is hinted to its own zone, except those that the zone gives to others. */
function hintSlice(slice: EndpointSlice, moves: Transfers, allocated: Map<string, number>): EndpointSlice {
  const endpoints = (slice.endpoints ?? []).map((endpoint) => {
    if (!isReady(endpoint)) return endpoint;
    const own = endpoint.zone ?? '';
    const zone = receiverFor(own, moves) ?? own;
    add(allocated, own, -1);
    add(allocated, zone, 1);
    return { ...endpoint, hints: { forZones: [{ name: zone }] } };
  });
  return { ...slice, endpoints };
}

function receiverFor(zone: string, { donors, receivers }: Transfers): string | undefined {
  const receiver = [...receivers].find(([, count]) => count > 0)?.[0];
  if (receiver === undefined || (donors.get(zone) ?? 0) === 0) return undefined;
  add(donors, zone, -1);
  add(receivers, receiver, -1);
  return receiver;
}

function readyEndpoints({ endpoints }: EndpointSlice): readonly Endpoint[] {
  return (endpoints ?? []).filter(isReady);
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true;
}
