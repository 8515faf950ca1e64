import type { apps, core } from '#api';
import { deepEqual } from '#machinery';
import { isPodAvailable, isPodReady, isPodTerminal } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { type ClaimLookup, hasStaleClaim, ownsItsClaims } from './claim-owners.ts';
import { hasIdentity, hasStorage, isInRange, ordinalOf, REVISION_LABEL, startOf } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;

export interface ObservedStatefulSet {
  readonly set: StatefulSet;
  readonly pods: readonly core.Pod[];
  readonly claims: ClaimLookup;
  /** Names of the revisions that pods have and are brought to. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly now: number;
}

export type StatefulAction =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  /** `forUpdate`: to be made again as it should be. */
  | { readonly type: 'delete'; readonly pod: core.Pod; readonly forUpdate?: true }
  /** Makes what claims it lacks. */
  | { readonly type: 'claim'; readonly pod: core.Pod }
  /** Gives it the name, volumes and owners of claims that it should have. */
  | { readonly type: 'repair'; readonly pod: core.Pod }
  /** Sees to it that claims go with the pod, or stay. */
  | { readonly type: 'own-claims'; readonly pod: core.Pod };

/** What to do next, in this order, until one of it fails. Sets that keep an order get one pod made or deleted at a time. */
export function planStateful(observed: ObservedStatefulSet): readonly StatefulAction[] {
  const isOrdered = observed.set.spec?.podManagementPolicy !== 'Parallel';
  const replicas = planReplicas(observed, isOrdered);
  if (replicas.isBlocked) return replicas.actions;
  const condemned = planCondemned(observed, isOrdered);
  const actions = [...replicas.actions, ...condemned.actions];
  return condemned.isBlocked ? actions : [...actions, ...updateActions(observed)];
}

interface Plan {
  readonly actions: readonly StatefulAction[];
  /** What comes after has to wait. */
  readonly isBlocked: boolean;
}

interface Slot {
  readonly ordinal: number;
  readonly pod: core.Pod | undefined;
}

function slots({ set, pods }: ObservedStatefulSet): readonly Slot[] {
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const start = startOf(set);
  return Array.from({ length: set.spec?.replicas ?? 1 }, (_, i) => ({ ordinal: start + i, pod: byOrdinal.get(start + i) }));
}

/** Pods with numbers beyond those that are wanted, the highest first. */
function condemnedOf({ set, pods }: ObservedStatefulSet): readonly core.Pod[] {
  const outside = pods.filter((pod) => ordinalOf(set, pod) !== undefined && !isInRange(set, pod));
  return outside.sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
}

function planReplicas(observed: ObservedStatefulSet, isOrdered: boolean): Plan {
  const actions: StatefulAction[] = [];
  for (const slot of slots(observed)) {
    const plan = planReplica(observed, slot, isOrdered);
    actions.push(...plan.actions);
    if (plan.isBlocked && isOrdered) return { actions, isBlocked: true };
  }
  return { actions, isBlocked: false };
}

function planReplica(observed: ObservedStatefulSet, { ordinal, pod }: Slot, isOrdered: boolean): Plan {
  const { set, claims } = observed;
  if (pod === undefined) {
    if (hasStaleClaim(set, ordinal, claims)) return { actions: [], isBlocked: true };
    return { actions: [{ type: 'create', ordinal, revision: revisionFor(observed, ordinal) }], isBlocked: true };
  }
  // It is made again when it is gone, however it ended.
  if (isPodTerminal(pod)) return { actions: isGoing(pod) ? [] : [{ type: 'delete', pod }], isBlocked: true };
  const hasClaims = (set.spec?.volumeClaimTemplates ?? []).length > 0;
  const claiming: readonly StatefulAction[] = hasClaims && pod.status?.phase === 'Pending' ? [{ type: 'claim', pod }] : [];
  const isBlocked = isGoing(pod) || !isRunningAndAvailable(observed, pod);
  if (isBlocked && isOrdered) return { actions: claiming, isBlocked };
  const isSound = hasIdentity(set, pod) && hasStorage(set, pod) && ownsItsClaims(set, pod, claims);
  return { actions: isSound ? claiming : [...claiming, { type: 'repair', pod }], isBlocked };
}

/** Pods that the update has not reached yet are made as they were. */
function revisionFor({ set, currentRevision, updateRevision }: ObservedStatefulSet, ordinal: number): 'current' | 'update' {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (currentRevision === updateRevision || type !== 'RollingUpdate') return 'update';
  const kept = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  return ordinal < startOf(set) + kept ? 'current' : 'update';
}

function isGoing({ metadata }: core.Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isRunningAndAvailable({ set, now }: ObservedStatefulSet, pod: core.Pod): boolean {
  return pod.status?.phase === 'Running' && isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function isUnavailable({ set, now }: ObservedStatefulSet, pod: core.Pod | undefined): boolean {
  return pod === undefined || isGoing(pod) || !isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function planCondemned(observed: ObservedStatefulSet, isOrdered: boolean): Plan {
  const { set, claims } = observed;
  const condemned = condemnedOf(observed);
  const owning = condemned.filter((pod) => !ownsItsClaims(set, pod, claims)).map((pod): StatefulAction => ({ type: 'own-claims', pod }));
  if (!isOrdered) {
    const deleting = condemned.filter((pod) => !isGoing(pod)).map((pod): StatefulAction => ({ type: 'delete', pod }));
    return { actions: [...owning, ...deleting], isBlocked: false };
  }
  const [last] = condemned;
  if (last === undefined) return { actions: owning, isBlocked: false };
  const actions: readonly StatefulAction[] = mayTakeAway(observed, last) ? [...owning, { type: 'delete', pod: last }] : owning;
  return { actions, isBlocked: true };
}

/** One that is not healthy holds up those above it: taking another away then would leave even fewer. */
function mayTakeAway(observed: ObservedStatefulSet, pod: core.Pod): boolean {
  if (isGoing(pod)) return false;
  if (isRunningAndAvailable(observed, pod)) return true;
  const inOrder = [...slots(observed).map((slot) => slot.pod), ...condemnedOf(observed).toReversed()];
  return inOrder.find((candidate) => isUnavailable(observed, candidate)) === pod;
}

function updateActions(observed: ObservedStatefulSet): readonly StatefulAction[] {
  const { set, updateRevision } = observed;
  if (set.spec?.updateStrategy?.type === 'OnDelete') return [];
  // Counted from the first pod, whatever its number is, as upstream does.
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (const { pod } of slots(observed).slice(partition).reverse()) {
    const isOld = pod !== undefined && pod.metadata.labels?.[REVISION_LABEL] !== updateRevision;
    if (isOld && !isGoing(pod)) return [{ type: 'delete', pod, forUpdate: true }];
    if (isUnavailable(observed, pod)) return [];
  }
  return [];
}

/** The set with its status as it should be; the same object when it is so. `replaced`: pods that were just deleted for the update. */
export function withStatefulStatus(observed: ObservedStatefulSet, replaced = 0): StatefulSet {
  const { set, currentRevision, updateRevision, now } = observed;
  const pods = observed.pods.filter((pod) => ordinalOf(set, pod) !== undefined);
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const of = (revision: string) => pods.filter((pod) => !isGoing(pod) && pod.metadata.labels?.[REVISION_LABEL] === revision).length;
  const updated = of(updateRevision);
  const { replicas = 1, updateStrategy } = set.spec ?? {};
  const isComplete = updateStrategy?.type === 'RollingUpdate' && [updated, ready.length, pods.length].every((count) => count === replicas);
  const { collisionCount, conditions } = set.status ?? {};
  const status: apps.StatefulSetStatus = {
    ...withoutZeros({
      observedGeneration: set.metadata.generation,
      readyReplicas: ready.length,
      currentReplicas: isComplete ? updated : Math.max(0, of(currentRevision) - replaced),
      updatedReplicas: updated,
      currentRevision: isComplete ? updateRevision : currentRevision,
      updateRevision,
    }),
    replicas: pods.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
  };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
