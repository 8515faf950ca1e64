import { type apps, core } from '#api';
import { minOf } from '#base';
import { deepEqual, scaledIntOrPercent } from '#machinery';
import { isPodAvailable, isPodReady } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { daemonTolerations, fitOf, type NodeFit } from './node-fit.ts';

type DaemonSet = apps.DaemonSet;

export const REVISION_HASH = 'controller-revision-hash';
export const TEMPLATE_GENERATION = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

export interface ObservedDaemonSet {
  readonly set: DaemonSet;
  readonly nodes: readonly core.Node[];
  /** By the name of the node that they run on or are created for. */
  readonly podsOn: ReadonlyMap<string, readonly core.Pod[]>;
  /** The hash of the current template. */
  readonly hash: string;
  /** How long until a pod that failed on this node may be replaced. */
  readonly failureWaitMs: (node: string) => number;
  readonly now: number;
}

export interface DaemonPlan {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly core.Pod[];
  /** Pods that terminated on their own. */
  readonly ended: readonly core.Pod[];
  /** When to check again, because a failed pod is in backoff. */
  readonly waitMs: number | undefined;
}

export function templateGeneration({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[GENERATION_ANNOTATION];
}

/** The node that a pod runs on, or that its affinity names. */
export function nodeOf({ spec }: core.Pod): string {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms[0]?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? '';
}

function isUpdated({ set, hash }: ObservedDaemonSet, { metadata }: core.Pod): boolean {
  const generation = templateGeneration(set);
  const isGeneration = generation !== undefined && metadata.labels?.[TEMPLATE_GENERATION] === generation;
  return isGeneration || metadata.labels?.[REVISION_HASH] === hash;
}

/** Pods to create on nodes without one, and pods to delete. */
export function planDaemons(observed: ObservedDaemonSet): DaemonPlan {
  const { set, nodes, podsOn } = observed;
  const spec = set.spec?.template.spec ?? { containers: [] };
  const tolerations = daemonTolerations(spec);
  const plans = nodes.map((node) => planNode(observed, fitOf(spec, node, tolerations), podsOn.get(node.metadata.name) ?? []));
  const waits = plans.flatMap(({ waitMs }) => (waitMs > 0 ? [waitMs] : []));
  return {
    create: nodes.filter((_, i) => plans[i]?.isMissing).map(({ metadata }) => metadata.name),
    remove: [...plans.flatMap(({ surplus, ended }) => [...surplus, ...ended]), ...podsWithoutNode(observed)],
    ended: plans.flatMap(({ ended }) => ended),
    waitMs: waits.length > 0 ? minOf(waits) : undefined,
  };
}

/** Pods created for a node that was deleted. */
function podsWithoutNode({ nodes, podsOn }: ObservedDaemonSet): readonly core.Pod[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const podsOfDeletedNodes = [...podsOn].filter(([name]) => !names.has(name)).flatMap(([, pods]) => pods);
  return podsOfDeletedNodes.filter(({ spec, metadata }) => !spec?.nodeName && metadata.deletionTimestamp === undefined);
}

interface NodePlan {
  readonly isMissing: boolean;
  readonly surplus: readonly core.Pod[];
  readonly ended: readonly core.Pod[];
  readonly waitMs: number;
}

function planNode(observed: ObservedDaemonSet, { shouldRun, shouldContinueRunning }: NodeFit, all: readonly core.Pod[]): NodePlan {
  const plan = { isMissing: false, surplus: [], ended: [], waitMs: 0 };
  if (shouldRun && all.length === 0) return { ...plan, isMissing: true };
  const pods = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!shouldContinueRunning) return { ...plan, surplus: pods };
  const running = pods.filter((pod) => !core.isPodTerminal(pod));
  const failed = pods.filter(({ status }) => status?.phase === 'Failed');
  const waitMs = failed.length > 0 ? observed.failureWaitMs(nodeOf(failed[0]!)) : 0;
  const ended = pods.filter(({ status }) => status?.phase === 'Succeeded' || (status?.phase === 'Failed' && waitMs === 0));
  // With maxSurge a node always has a pod, even while the old one terminates.
  const isMissing = running.length === 0 && shouldRun && allowsSurge(observed.set);
  return { isMissing, surplus: allowsSurge(observed.set) ? surgeSurplus(observed, running) : byAge(running).slice(1), ended, waitMs };
}

/** Scheduled pods first, then the oldest. */
function byAge(pods: readonly core.Pod[]): readonly core.Pod[] {
  const rank = ({ spec, metadata }: core.Pod) => `${spec?.nodeName ? 0 : 1}${metadata.creationTimestamp}\0${metadata.name}`;
  return pods.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** With maxSurge the old pod stays until its replacement is available. */
function surgeSurplus(observed: ObservedDaemonSet, running: readonly core.Pod[]): readonly core.Pod[] {
  if (running.length <= 1) return [];
  const { set, hash, now } = observed;
  const sorted = byAge(running);
  const [updated, ...moreUpdated] = sorted.filter(({ metadata }) => metadata.labels?.[REVISION_HASH] === hash);
  const [old, ...moreOld] = sorted.filter(({ metadata }) => metadata.labels?.[REVISION_HASH] !== hash);
  const isReplaced = updated && old && (!isPodReady(old) || isPodAvailable(updated, set.spec?.minReadySeconds ?? 0, now));
  return [...moreUpdated, ...moreOld, ...(isReplaced ? [old] : [])];
}

function allowsSurge({ spec }: DaemonSet): boolean {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  return type !== 'OnDelete' && !['0', '0%'].includes(String(rollingUpdate?.maxSurge ?? 0));
}

function desiredNodes({ set, nodes }: ObservedDaemonSet): readonly core.Node[] {
  const spec = set.spec?.template.spec ?? { containers: [] };
  const tolerations = daemonTolerations(spec);
  return nodes.filter((node) => fitOf(spec, node, tolerations).shouldRun);
}

function maxSurge(observed: ObservedDaemonSet): number {
  const { set } = observed;
  const surge = set.spec?.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return surge === 0 ? 0 : scaledIntOrPercent(surge, desiredNodes(observed).length, 'up');
}

/** The step of a rolling update: old pods that go now, and nodes that get a second pod before the first goes. */
export function rollingStep(observed: ObservedDaemonSet): { readonly remove: readonly core.Pod[]; readonly create: readonly string[] } {
  const { set, podsOn, now } = observed;
  if (set.spec?.updateStrategy?.type === 'OnDelete') return { remove: [], create: [] };
  const desired = desiredNodes(observed);
  const minReady = set.spec?.minReadySeconds ?? 0;
  const livePodsOn = (name: string) => (podsOn.get(name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surge = maxSurge(observed);
  const names = desired.map(({ metadata }) => metadata.name);
  const outdated = names.filter((name) => livePodsOn(name).length > 0 && !livePodsOn(name).some((pod) => isUpdated(observed, pod)));
  if (surge > 0) {
    const surging = names.filter((name) => livePodsOn(name).length > 1).length;
    return { remove: [], create: outdated.slice(0, Math.max(0, surge - surging)) };
  }
  const unavailable = names.filter((name) => !livePodsOn(name).some((pod) => isPodAvailable(pod, minReady, now)));
  const limit = Math.max(1, scaledIntOrPercent(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, names.length, 'up'));
  // Unavailable pods are replaced whatever the limit.
  const broken = outdated.filter((name) => unavailable.includes(name));
  const available = outdated.filter((name) => !unavailable.includes(name)).slice(0, Math.max(0, limit - unavailable.length));
  return { remove: [...broken, ...available].flatMap(livePodsOn), create: [] };
}

/** The set with the desired status; the same object if unchanged. */
export function withDaemonStatus(observed: ObservedDaemonSet): DaemonSet {
  const { set, nodes, podsOn, now } = observed;
  const desired = new Set(desiredNodes(observed).map(({ metadata }) => metadata.name));
  const minReady = set.spec?.minReadySeconds ?? 0;
  const counts = { current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const { metadata } of nodes) {
    const isGone = (pod: core.Pod) => pod.metadata.deletionTimestamp !== undefined && core.isPodTerminal(pod);
    const pods = (podsOn.get(metadata.name) ?? []).filter((pod) => !isGone(pod));
    if (pods.length === 0) continue;
    if (!desired.has(metadata.name)) {
      counts.misscheduled++;
      continue;
    }
    counts.current++;
    const [pod] = byAge(pods) as [core.Pod];
    if (isPodReady(pod)) counts.ready++;
    if (isPodAvailable(pod, minReady, now)) counts.available++;
    if (isUpdated(observed, pod)) counts.updated++;
  }
  const { collisionCount, conditions } = set.status ?? {};
  const status: apps.DaemonSetStatus = {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: desired.size,
    numberReady: counts.ready,
    ...withoutZeros({
      observedGeneration: set.metadata.generation,
      updatedNumberScheduled: counts.updated,
      numberAvailable: counts.available,
      numberUnavailable: desired.size - counts.available,
    }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
