import type { apps, core } from '#api';
import { deepEqual } from '#machinery';
import { isPodAvailable, isPodReady, isPodTerminal } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { ordinalOf, REVISION_LABEL } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;

export interface ObservedStatefulSet {
  readonly set: StatefulSet;
  readonly pods: readonly core.Pod[];
  /** Names of the revisions that pods have and are brought to. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly now: number;
}

export type StatefulAction =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  | { readonly type: 'delete'; readonly pod: core.Pod };

/** What to do next. Sets that keep an order get one action at a time, and wait for its effect. */
export function planStateful(observed: ObservedStatefulSet): readonly StatefulAction[] {
  const isOrdered = observed.set.spec?.podManagementPolicy !== 'Parallel';
  const first = fillActions(observed, isOrdered);
  if (first.actions.length > 0 || first.isWaiting) return first.actions;
  const second = condemnActions(observed, isOrdered);
  return second.length > 0 || condemned(observed).length > 0 ? second : updateActions(observed);
}

function slots({ set, pods }: ObservedStatefulSet): readonly { readonly ordinal: number; readonly pod: core.Pod | undefined }[] {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const start = set.spec?.ordinals?.start ?? 0;
  return Array.from({ length: set.spec?.replicas ?? 1 }, (_, i) => ({ ordinal: start + i, pod: byOrdinal.get(start + i) }));
}

function condemned({ set, pods }: ObservedStatefulSet): readonly core.Pod[] {
  const start = set.spec?.ordinals?.start ?? 0;
  const end = start + (set.spec?.replicas ?? 1);
  const outside = pods.filter((pod) => {
    const ordinal = ordinalOf(set, pod);
    return ordinal !== undefined && (ordinal < start || ordinal >= end);
  });
  return outside.sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
}

function fillActions(observed: ObservedStatefulSet, isOrdered: boolean) {
  const actions: StatefulAction[] = [];
  for (const { ordinal, pod } of slots(observed)) {
    const action = fillAction(observed, ordinal, pod);
    if (action !== undefined) actions.push(action);
    const isSettled = action === undefined && pod !== undefined && isHealthy(observed, pod);
    if (isSettled) continue;
    if (isOrdered) return { actions, isWaiting: true };
  }
  return { actions, isWaiting: false };
}

function fillAction(observed: ObservedStatefulSet, ordinal: number, pod: core.Pod | undefined): StatefulAction | undefined {
  if (pod === undefined) return { type: 'create', ordinal, revision: revisionFor(observed, ordinal) };
  // It is made again when it is gone, however it ended.
  return isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined ? { type: 'delete', pod } : undefined;
}

/** Pods that the update has not reached yet are made as they were. */
function revisionFor({ set, currentRevision, updateRevision }: ObservedStatefulSet, ordinal: number): 'current' | 'update' {
  if (currentRevision === updateRevision || set.spec?.updateStrategy?.type !== 'RollingUpdate') return 'update';
  const start = set.spec.ordinals?.start ?? 0;
  const { partition } = set.spec.updateStrategy.rollingUpdate ?? {};
  const kept = partition || (set.status?.currentReplicas ?? 0);
  return ordinal < start + kept ? 'current' : 'update';
}

function isHealthy({ set, now }: ObservedStatefulSet, pod: core.Pod): boolean {
  const isRunning = pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
  return isRunning && isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function condemnActions(observed: ObservedStatefulSet, isOrdered: boolean): readonly StatefulAction[] {
  const outside = condemned(observed);
  const going = outside.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (!isOrdered) return going.map((pod): StatefulAction => ({ type: 'delete', pod }));
  const [last] = outside;
  if (last === undefined || last !== going[0]) return [];
  // One that is not healthy holds up those before it: taking a healthy one away then would leave even fewer.
  const unhealthy = [...slots(observed).map(({ pod }) => pod), ...[...outside].reverse()].find(
    (pod) => pod !== undefined && !isHealthy(observed, pod),
  );
  const isHeldUp = unhealthy !== undefined && unhealthy !== last && !isHealthy(observed, last);
  return isHeldUp ? [] : [{ type: 'delete', pod: last }];
}

function updateActions(observed: ObservedStatefulSet): readonly StatefulAction[] {
  const { set, updateRevision } = observed;
  if (set.spec?.updateStrategy?.type === 'OnDelete') return [];
  const start = set.spec?.ordinals?.start ?? 0;
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (const { ordinal, pod } of [...slots(observed)].reverse()) {
    if (ordinal < start + partition || pod === undefined) break;
    const isOld = pod.metadata.labels?.[REVISION_LABEL] !== updateRevision;
    if (isOld && pod.metadata.deletionTimestamp === undefined) return [{ type: 'delete', pod }];
    if (!isHealthy(observed, pod)) return [];
  }
  return [];
}

/** The set with its status as it should be; the same object when it is so. */
export function withStatefulStatus(observed: ObservedStatefulSet): StatefulSet {
  const { set, pods, currentRevision, updateRevision, now } = observed;
  const alive = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod));
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const of = (revision: string) => alive.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] === revision).length;
  const updated = of(updateRevision);
  const isComplete =
    updated === pods.length &&
    ready.length === pods.length &&
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    pods.length === (set.spec?.replicas ?? 1);
  const current = isComplete ? updateRevision : currentRevision;
  const { collisionCount, conditions } = set.status ?? {};
  const status: apps.StatefulSetStatus = {
    ...withoutZeros({
      observedGeneration: set.metadata.generation,
      readyReplicas: ready.length,
      currentReplicas: of(current),
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision,
    }),
    replicas: pods.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
