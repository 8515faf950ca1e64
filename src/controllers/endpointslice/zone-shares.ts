import type { core } from '#api';
import { isConditionTrue, Quantity } from '#machinery';

const ZONE = 'topology.kubernetes.io/zone';
/** Control plane nodes do not count: they send no ordinary traffic. */
const EXCLUDED = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** Each zone's share of all CPUs. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Undefined with fewer than two zones, or when a ready node lacks its zone or CPUs. */
export function zoneShares(nodes: readonly core.Node[]): ZoneShares | undefined {
  const cpus = new Map<string, number>();
  for (const node of nodes) {
    if (!counts(node)) continue;
    const zone = node.metadata.labels?.[ZONE];
    const cpu = Quantity.parse(node.status?.allocatable?.cpu ?? '0').milliValue();
    if (!zone || cpu === 0) return undefined;
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu);
  }
  if (cpus.size < 2) return undefined;
  const total = [...cpus.values()].reduce((sum, cpu) => sum + cpu, 0);
  return new Map([...cpus].map(([zone, cpu]) => [zone, cpu / total]));
}

function counts({ metadata, status }: core.Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready') && !EXCLUDED.some((label) => metadata.labels?.[label] !== undefined);
}

/** Whether a change of a node may change the shares. */
export function affectsZoneShares(before: core.Node, node: core.Node): boolean {
  const traits = (of: core.Node) => [counts(of), of.metadata.labels?.[ZONE], of.status?.allocatable?.cpu].join();
  return traits(before) !== traits(node);
}
