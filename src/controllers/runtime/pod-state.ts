import type { core } from '#api';
import { findCondition, isConditionTrue, parseTime } from '#machinery';
import { controllerOf } from './controller-ref.ts';

/** It has finished, well or badly, and will not run again. */
export function isPodTerminal({ status }: core.Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** It runs or may yet run. */
export function isPodActive(pod: core.Pod): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** It is deleted but still ending. */
export function isPodTerminating(pod: core.Pod): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isPodReady({ status }: core.Pod): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

/** When it became ready, in milliseconds; undefined when it is not ready or does not say. */
export function podReadySince(pod: core.Pod): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'Ready');
  return condition?.status === 'True' && condition.lastTransitionTime ? parseTime(condition.lastTransitionTime) : undefined;
}

/** It has been ready for long enough. */
export function isPodAvailable(pod: core.Pod, minReadySeconds: number, now: number): boolean {
  if (!isPodReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = podReadySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/** How long until the next of the pods becomes available; undefined when none will by waiting alone. */
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

/** Finds pods by the uid of their controller, and those without one by their namespace. */
function controllerValues(pod: core.Pod): readonly string[] {
  const owner = controllerOf(pod);
  return [owner === undefined ? `orphan/${pod.metadata.namespace}` : owner.uid];
}

interface IndexedPods {
  addIndex(name: string, valuesOf: (pod: core.Pod) => readonly string[]): unknown;
  readonly lister: { byIndex(name: string, value: string): readonly core.Pod[] };
}

export interface PodsByController {
  ownedBy(uid: string): readonly core.Pod[];
  orphansIn(namespace: string): readonly core.Pod[];
}

export function podsByController(informer: IndexedPods): PodsByController {
  informer.addIndex(CONTROLLER_INDEX, controllerValues);
  return {
    ownedBy: (uid) => informer.lister.byIndex(CONTROLLER_INDEX, uid),
    orphansIn: (namespace) => informer.lister.byIndex(CONTROLLER_INDEX, `orphan/${namespace}`),
  };
}

const NODE_INDEX = 'node';

function nodeValues({ spec }: core.Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : [];
}

/** Finds the pods that are on a node. */
export function podsByNode(informer: IndexedPods): (node: string) => readonly core.Pod[] {
  informer.addIndex(NODE_INDEX, nodeValues);
  return (node) => informer.lister.byIndex(NODE_INDEX, node);
}
