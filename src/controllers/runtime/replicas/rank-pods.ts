import type { core } from '#api';
import { lookupTable, maxOf } from '#base';
import { compareBytes, parseTime } from '#machinery';
import { isPodActive, isPodReady, podReadySince } from '../pod-state.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const PHASE_ORDER = lookupTable<number>({ Pending: 0, Unknown: 1, Running: 2 });

/**
 * The `count` pods to delete first: unscheduled, not running, not ready, with a low deletion cost, on a node with other pods of the set,
 * young, often restarted. `related` are the pods that are counted per node.
 */
export function podsToDelete(pods: readonly core.Pod[], related: readonly core.Pod[], { count, now }: { count: number; now: number }) {
  if (count >= pods.length) return pods;
  const perNode = countPerNode(related);
  const rankOf = (pod: core.Pod) => perNode.get(pod.spec?.nodeName ?? '') ?? 0;
  return [...pods].sort((a, b) => comparePods(a, b, now, rankOf)).slice(0, count);
}

function countPerNode(pods: readonly core.Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    if (!isPodActive(pod)) continue;
    const node = pod.spec?.nodeName ?? '';
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

function comparePods(a: core.Pod, b: core.Pod, now: number, rankOf: (pod: core.Pod) => number): number {
  return (
    Number(isAssigned(a)) - Number(isAssigned(b)) ||
    phaseOrder(a) - phaseOrder(b) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    deletionCost(a) - deletionCost(b) ||
    rankOf(b) - rankOf(a) ||
    compareSince([podReadySince(a), podReadySince(b)], [a, b], now) ||
    compareRestarts(a, b) ||
    compareSince([created(a), created(b)], [a, b], now)
  );
}

function isAssigned({ spec }: core.Pod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

function phaseOrder({ status }: core.Pod): number {
  return PHASE_ORDER[status?.phase ?? ''] ?? 0;
}

function created({ metadata }: core.Pod): number | undefined {
  return metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : undefined;
}

function deletionCost({ metadata }: core.Pod): number {
  const text = metadata.annotations?.[DELETION_COST] ?? '';
  return /^(?:0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

/** Younger first, by order of magnitude only: among pods of similar age the choice is random, as upstream. */
function compareSince(times: readonly (number | undefined)[], [a, b]: readonly [core.Pod, core.Pod], now: number): number {
  const [first, second] = times;
  if (first === second) return 0;
  if (first === undefined || second === undefined) return first === undefined ? -1 : 1;
  return magnitude(now - first) - magnitude(now - second) || compareBytes(a.metadata.uid ?? '', b.metadata.uid ?? '');
}

/** Of the age in nanoseconds, as upstream. */
function magnitude(ms: number): number {
  return ms > 0 ? Math.floor(Math.log2(ms * 1e6)) : -1;
}

function compareRestarts(a: core.Pod, b: core.Pod): number {
  return maxRestarts(b) - maxRestarts(a) || maxSidecarRestarts(b) - maxSidecarRestarts(a);
}

function maxRestarts({ status }: core.Pod): number {
  return maxOf(
    (status?.containerStatuses ?? []).map(({ restartCount }) => restartCount),
    0,
  );
}

function maxSidecarRestarts({ spec, status }: core.Pod): number {
  const sidecars = new Set((spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map(({ name }) => name));
  const restarts = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)).map(({ restartCount }) => restartCount);
  return maxOf(restarts, 0);
}
