import type { apps, core } from '#api';
import { deepEqual, scaledIntOrPercent } from '#machinery';
import { isPodAvailable, isPodReady } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { daemonTolerations, fitOf } from './node-fit.ts';

type DaemonSet = apps.DaemonSet;

export const REVISION_HASH = 'controller-revision-hash';
export const TEMPLATE_GENERATION = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

export interface ObservedDaemonSet {
  readonly set: DaemonSet;
  readonly nodes: readonly core.Node[];
  /** By the name of the node that they are on, or are meant for. */
  readonly podsOn: ReadonlyMap<string, readonly core.Pod[]>;
  /** Of the current template. */
  readonly hash: string;
  readonly now: number;
}

export interface DaemonPlan {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly core.Pod[];
  readonly failed: readonly core.Pod[];
}

export function templateGeneration({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[GENERATION_ANNOTATION];
}

/** The node that a pod is on or meant for. */
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

/** Pods that are missing on their node, and those that are too many there or do not belong there. */
export function planDaemons(observed: ObservedDaemonSet): DaemonPlan {
  const { set, nodes, podsOn } = observed;
  const spec = set.spec?.template.spec ?? { containers: [] };
  const tolerations = daemonTolerations(spec);
  const create: string[] = [];
  const remove: core.Pod[] = [];
  const failed: core.Pod[] = [];
  for (const node of nodes) {
    const { shouldRun, mayStay } = fitOf(spec, node, tolerations);
    const pods = (podsOn.get(node.metadata.name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const ended = pods.filter(({ status }) => status?.phase === 'Failed' || status?.phase === 'Succeeded');
    const running = pods.filter((pod) => !ended.includes(pod));
    if (!mayStay) remove.push(...pods);
    else if (shouldRun && (podsOn.get(node.metadata.name) ?? []).length === 0) create.push(node.metadata.name);
    else {
      failed.push(...ended);
      remove.push(...surplus(observed, running));
    }
  }
  return { create, remove: [...remove, ...failed], failed };
}

/** One stays: the one that is ready for longest; while a surge is allowed, an old one beside its unready successor. */
function surplus(observed: ObservedDaemonSet, pods: readonly core.Pod[]): readonly core.Pod[] {
  if (pods.length <= 1) return [];
  const { set, now } = observed;
  const updated = pods.filter((pod) => isUpdated(observed, pod));
  const old = pods.filter((pod) => !updated.includes(pod));
  const isSurging = maxSurge(observed) > 0 && updated.length === 1 && old.length === 1;
  if (isSurging) return isPodAvailable(updated[0]!, set.spec?.minReadySeconds ?? 0, now) ? old : [];
  const rank = (pod: core.Pod) => `${isPodReady(pod) ? 0 : 1}${pod.metadata.creationTimestamp}${pod.metadata.name}`;
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(1);
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
  const alive = (name: string) => (podsOn.get(name) ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surge = maxSurge(observed);
  const names = desired.map(({ metadata }) => metadata.name);
  const outdated = names.filter((name) => alive(name).length > 0 && !alive(name).some((pod) => isUpdated(observed, pod)));
  if (surge > 0) {
    const surging = names.filter((name) => alive(name).length > 1).length;
    return { remove: [], create: outdated.slice(0, Math.max(0, surge - surging)) };
  }
  const unavailable = names.filter((name) => !alive(name).some((pod) => isPodAvailable(pod, minReady, now)));
  const limit = Math.max(1, scaledIntOrPercent(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, names.length, 'up'));
  // Pods that do not serve anyway are replaced whatever the limit.
  const broken = outdated.filter((name) => unavailable.includes(name));
  const serving = outdated.filter((name) => !unavailable.includes(name)).slice(0, Math.max(0, limit - unavailable.length));
  return { remove: [...broken, ...serving].flatMap(alive), create: [] };
}

/** The set with its status as it should be; the same object when it is so. */
export function withDaemonStatus(observed: ObservedDaemonSet): DaemonSet {
  const { set, nodes, podsOn, now } = observed;
  const desired = new Set(desiredNodes(observed).map(({ metadata }) => metadata.name));
  const minReady = set.spec?.minReadySeconds ?? 0;
  const counts = { current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const { metadata } of nodes) {
    const pods = podsOn.get(metadata.name) ?? [];
    if (pods.length === 0) continue;
    if (!desired.has(metadata.name)) {
      counts.misscheduled++;
      continue;
    }
    counts.current++;
    const newest = [...pods].sort((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''));
    const pod = newest.findLast((each) => isUpdated(observed, each)) ?? newest[0]!;
    if (pods.some(isPodReady)) counts.ready++;
    if (pods.some((each) => isPodAvailable(each, minReady, now))) counts.available++;
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
