import type { coordination, core } from '#api';
import { lookupTable } from '#base';
import { findCondition, formatTime, parseTime } from '#machinery';
import { sameTaint } from '../runtime/tolerations.ts';

/** The taint that follows from a condition of a node. */
const CONDITION_TAINTS = lookupTable<Readonly<Record<string, string>>>({
  Ready: { False: 'node.kubernetes.io/not-ready', Unknown: 'node.kubernetes.io/unreachable' },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
});
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
const MANAGED_KEYS: ReadonlySet<string> = new Set([UNSCHEDULABLE, ...Object.values(CONDITION_TAINTS).flatMap((map) => Object.values(map))]);

export const NOT_READY: core.Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
export const UNREACHABLE: core.Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

/** The node with the taints and labels derived from its conditions; the same object if unchanged. */
export function annotatedNode(node: core.Node, now: number): core.Node {
  return withArchitectureLabels(withConditionTaints(node, now));
}

function withConditionTaints(node: core.Node, now: number): core.Node {
  const keys = (node.status?.conditions ?? []).flatMap(({ type, status }) => CONDITION_TAINTS[type]?.[status] ?? []);
  const desired = new Set(node.spec?.unschedulable ? [...keys, UNSCHEDULABLE] : keys);
  const isManaged = ({ key, effect }: core.Taint) => effect === 'NoSchedule' && MANAGED_KEYS.has(key);
  const taints = node.spec?.taints ?? [];
  const otherTaints = taints.filter((taint) => !isManaged(taint) || desired.has(taint.key));
  const present = new Set(otherTaints.filter(isManaged).map(({ key }) => key));
  const added = [...desired].filter((key) => !present.has(key)).map((key) => ({ key, effect: 'NoSchedule', timeAdded: formatTime(now) }));
  return added.length === 0 && otherTaints.length === taints.length
    ? node
    : { ...node, spec: { ...node.spec, taints: [...otherTaints, ...added] } };
}

/** Deprecated beta labels follow the stable ones. */
function withArchitectureLabels(node: core.Node): core.Node {
  const { labels } = node.metadata;
  if (labels === undefined) return node;
  const names = ['os', 'arch'].filter((name) => labels[`kubernetes.io/${name}`] !== undefined);
  const changed = names.filter((name) => labels[`beta.kubernetes.io/${name}`] !== labels[`kubernetes.io/${name}`]);
  if (changed.length === 0) return node;
  const added = Object.fromEntries(changed.map((name) => [`beta.kubernetes.io/${name}`, labels[`kubernetes.io/${name}`] ?? '']));
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...added } } };
}

/** The node with some taints replaced; the same object if unchanged. */
export function swapTaints(node: core.Node, add: readonly core.Taint[], remove: readonly core.Taint[]): core.Node {
  const taints = node.spec?.taints ?? [];
  const otherTaints = taints.filter((taint) => !remove.some((removed) => sameTaint(removed, taint)));
  const missing = add.filter((taint) => !otherTaints.some((present) => sameTaint(present, taint)));
  return missing.length === 0 && otherTaints.length === taints.length
    ? node
    : { ...node, spec: { ...node.spec, taints: [...otherTaints, ...missing] } };
}

export function hasTaint({ spec }: core.Node, taint: core.Taint): boolean {
  return (spec?.taints ?? []).some((present) => sameTaint(present, taint));
}

/** The controller's record of a node. Times are its own: node clocks may differ. */
export interface NodeHealth {
  readonly probeTime: number;
  readonly heartbeat: string | undefined;
  readonly renewTime: string | undefined;
}

export interface HealthObservation {
  readonly node: core.Node;
  readonly lease: coordination.Lease | undefined;
  readonly saved: NodeHealth | undefined;
  readonly now: number;
  readonly startupGraceMs: number;
  readonly graceMs: number;
}

export interface EvaluatedHealth {
  readonly health: NodeHealth;
  /** The node with the desired conditions; the same object if unchanged. */
  readonly node: core.Node;
}

/** A node becomes Unknown when neither its status nor its lease is renewed within the grace period. */
export function evaluateHealth({ node, lease, saved, now, startupGraceMs, graceMs }: HealthObservation): EvaluatedHealth {
  const ready = findCondition(node.status?.conditions, 'Ready');
  const heartbeat = ready ? (ready.lastHeartbeatTime ?? '') : undefined;
  const renewTime = lease?.spec?.renewTime;
  const isRenewed = renewTime !== undefined && (saved?.renewTime === undefined || saved.renewTime < renewTime);
  const isMoved = saved !== undefined && saved.heartbeat !== heartbeat;
  const probeTime = isRenewed || isMoved ? now : (saved?.probeTime ?? firstProbe(node, ready, now));
  const isSame = saved !== undefined && !isRenewed && !isMoved;
  const health = isSame ? saved : { probeTime, heartbeat, renewTime: isRenewed ? renewTime : saved?.renewTime };
  const isLost = now > probeTime + (ready === undefined ? startupGraceMs : graceMs);
  return { health, node: isLost ? withUnknownConditions(node, now) : node };
}

function firstProbe({ metadata: { creationTimestamp } }: core.Node, ready: core.NodeCondition | undefined, now: number): number {
  return ready === undefined && creationTimestamp ? parseTime(creationTimestamp) : now;
}

const WATCHED_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

function withUnknownConditions(node: core.Node, now: number): core.Node {
  const conditions = node.status?.conditions ?? [];
  const lastTransitionTime = formatTime(now);
  const unknown = { status: 'Unknown', lastTransitionTime };
  const stopped = { ...unknown, reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const isStale = ({ type, status }: core.NodeCondition) => WATCHED_CONDITIONS.includes(type) && status !== 'Unknown';
  const changed = conditions.map((condition) => (isStale(condition) ? { ...condition, ...stopped } : condition));
  const missing = WATCHED_CONDITIONS.filter((type) => findCondition(conditions, type) === undefined);
  if (!conditions.some(isStale) && missing.length === 0) return node;
  const never = { ...unknown, reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };
  const { creationTimestamp } = node.metadata;
  const added = missing.map((type) => ({ type, ...never, ...(creationTimestamp && { lastHeartbeatTime: creationTimestamp }) }));
  return { ...node, status: { ...node.status, conditions: [...changed, ...added] } };
}

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

export function zoneState(readyStatuses: readonly (string | undefined)[], threshold: number): ZoneState {
  const ready = readyStatuses.filter((status) => status === 'True').length;
  const notReady = readyStatuses.length - ready;
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  return notReady > 2 && notReady / readyStatuses.length >= threshold ? 'PartialDisruption' : 'Normal';
}

export interface EvictionRates {
  readonly nodeEvictionRate: number;
  readonly secondaryNodeEvictionRate: number;
  readonly largeClusterSizeThreshold: number;
}

/** How many nodes per second may be tainted in a zone. */
export function zoneRate(state: ZoneState, size: number, rates: EvictionRates): number {
  if (state !== 'PartialDisruption') return rates.nodeEvictionRate;
  return size > rates.largeClusterSizeThreshold ? rates.secondaryNodeEvictionRate : 0;
}

/** The zone from a node's labels; empty when it has none. */
export function zoneOf({ metadata }: core.Node): string {
  const labels = metadata.labels ?? {};
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  return zone === '' && region === '' ? '' : `${region}:\0:${zone}`;
}
