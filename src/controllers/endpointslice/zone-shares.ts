import type { core } from '#api';
import { isConditionTrue, Quantity } from '#machinery';

const ZONE = 'topology.kubernetes.io/zone';
/** Nodes with these do not count: ordinary traffic does not come from there. */
const EXCLUDED = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** The share of all CPUs that each zone has. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Undefined when there are fewer than two zones, or when not all that are ready tell their zone and their CPUs. */
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

/** The shares may have changed from one state of a node to the other. */
export function mayShiftShares(before: core.Node, node: core.Node): boolean {
  const traits = (of: core.Node) => [counts(of), of.metadata.labels?.[ZONE], of.status?.allocatable?.cpu].join();
  return traits(before) !== traits(node);
}
