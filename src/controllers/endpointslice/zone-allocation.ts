import type { ZoneShares } from './zone-shares.ts';

/** How far above its share an endpoint may be loaded. */
const OVERLOAD = 0.2;

/** The number of endpoints allocated to a zone. */
export interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

export type Allocations = ReadonlyMap<string, Allocation>;

/** The allocation of each zone, or the reason why there is none. */
export function allocate(shares: ZoneShares | undefined, endpoints: number): Allocations | string {
  if (shares === undefined) return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  const counts = `(${endpoints} endpoints, ${shares.size} zones)`;
  if (shares.size > endpoints) return `Insufficient number of endpoints ${counts}`;
  const zones = [...shares].map(([zone, share]) => {
    const exact = share * endpoints;
    const minimum = Math.ceil(exact * (1 / (1 + OVERLOAD)));
    return { zone, minimum, desired: Math.max(exact, minimum) };
  });
  const spare = endpoints - zones.reduce((sum, { minimum }) => sum + minimum, 0);
  if (spare < 0) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`;
  }
  return new Map(zones.map(({ zone, minimum, desired }) => [zone, { minimum, desired, maximum: minimum + spare }]));
}

/** Whether a zone has so few endpoints that each would be overloaded. */
export function isOverloaded(allocated: ReadonlyMap<string, number>, shares: ZoneShares | undefined): boolean {
  if (allocated.size === 0) return false;
  if (shares === undefined) return true;
  const total = [...allocated.values()].reduce((sum, count) => sum + count, 0);
  return [...shares].some(([zone, share]) => (allocated.get(zone) ?? -1) < Math.ceil(total * share * (1 / (1 + OVERLOAD))));
}

export interface Transfers {
  /** How many endpoints each zone gives and receives. */
  readonly donors: Map<string, number>;
  readonly receivers: Map<string, number>;
}

/** Moves endpoints one by one from the zone with the largest surplus to the one with the largest deficit. */
export function transfers(allocations: Allocations, allocated: ReadonlyMap<string, number>): Transfers {
  const surplus = new Map([...allocations].map(([zone, { desired }]) => [zone, (allocated.get(zone) ?? 0) - desired]));
  const donors = new Map<string, number>();
  const receivers = new Map<string, number>();
  for (;;) {
    const from = extreme(surplus, 1);
    const to = extreme(surplus, -1);
    if (from === undefined || to === undefined || (from.by < 1 && to.by < 1) || from.by < 0.5 || to.by < 0.5) return { donors, receivers };
    add(donors, from.zone, 1);
    add(receivers, to.zone, 1);
    add(surplus, from.zone, -1);
    add(surplus, to.zone, 1);
  }
}

export function add(counts: Map<string, number>, zone: string, by: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
}

function extreme(surplus: ReadonlyMap<string, number>, sign: 1 | -1): { readonly zone: string; readonly by: number } | undefined {
  let largest: { zone: string; by: number } | undefined;
  for (const [zone, amount] of surplus) if (amount * sign > (largest?.by ?? 0)) largest = { zone, by: amount * sign };
  return largest;
}
