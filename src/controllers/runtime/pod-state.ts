import { core } from '#api';
import { findCondition, isConditionTrue, parseTime } from '#machinery';
import { controllerOf } from './controller-ref.ts';

/** Not finished and not being deleted. */
export function isPodActive(pod: core.Pod): boolean {
  return !core.isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Being deleted, but not finished. */
export function isPodTerminating(pod: core.Pod): boolean {
  return !core.isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isPodReady({ status }: core.Pod): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

/** The time of the Ready condition, in milliseconds; undefined when the pod is not ready. */
export function podReadySince(pod: core.Pod): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'Ready');
  return condition?.status === 'True' && condition.lastTransitionTime ? parseTime(condition.lastTransitionTime) : undefined;
}

/** Ready for at least minReadySeconds. */
export function isPodAvailable(pod: core.Pod, minReadySeconds: number, now: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = podReadySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/** How long until the next pod becomes available; undefined when none will by waiting alone. */
export function nextAvailability(pods: readonly core.Pod[], minReadySeconds: number, now: number): number | undefined {
  let next: number | undefined;
  for (const pod of pods) {
    const since = podReadySince(pod);
    const left = since === undefined ? 0 : since + minReadySeconds * 1000 - now;
    if (left > 0 && (next === undefined || left < next)) next = left;
  }
  return next;
}

const CONTROLLER_INDEX = 'controller';

/** Indexes pods by the uid of their controller, and those without one by namespace. */
function controllerValues(pod: core.Pod): readonly string[] {
  const owner = controllerOf(pod);
  return [owner === undefined ? `orphan/${pod.metadata.namespace}` : owner.uid];
}

interface IndexedPods {
  addIndex(name: string, valuesOf: (pod: core.Pod) => readonly string[]): unknown;
  readonly lister: { byIndex(name: string, value: string): readonly core.Pod[]; countByIndex(name: string, value: string): number };
}

export interface PodsByController {
  ownedBy(uid: string): readonly core.Pod[];
  countOwnedBy(uid: string): number;
  orphansIn(namespace: string): readonly core.Pod[];
}

export function podsByController(informer: IndexedPods): PodsByController {
  informer.addIndex(CONTROLLER_INDEX, controllerValues);
  return {
    ownedBy: (uid) => informer.lister.byIndex(CONTROLLER_INDEX, uid),
    countOwnedBy: (uid) => informer.lister.countByIndex(CONTROLLER_INDEX, uid),
    orphansIn: (namespace) => informer.lister.byIndex(CONTROLLER_INDEX, `orphan/${namespace}`),
  };
}

const NODE_INDEX = 'node';

function nodeValues({ spec }: core.Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}

/** The pods on a node. */
export function podsByNode(informer: IndexedPods): (node: string) => readonly core.Pod[] {
  informer.addIndex(NODE_INDEX, nodeValues);
  return (node) => informer.lister.byIndex(NODE_INDEX, node);
}
