import { type apps, core } from '#api';
import { pushAll } from '#base';
import { deepEqual } from '#machinery';
import { isPodAvailable, isPodReady } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { type ClaimLookup, hasStaleClaim, ownsItsClaims } from './claim-owners.ts';
import { hasIdentity, hasStorage, isInRange, ordinalOf, REVISION_LABEL, startOf } from './stateful-pod.ts';

type StatefulSet = apps.StatefulSet;

export interface ObservedStatefulSet {
  readonly set: StatefulSet;
  readonly pods: readonly core.Pod[];
  readonly claims: ClaimLookup;
  /** Names of the current and of the update revision. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly now: number;
}

export type StatefulAction =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  /** `forUpdate`: recreated with the update revision. */
  | { readonly type: 'delete'; readonly pod: core.Pod; readonly forUpdate?: true }
  /** Creates missing claims. */
  | { readonly type: 'claim'; readonly pod: core.Pod }
  /** Restores its identity, volumes and claim owners. */
  | { readonly type: 'repair'; readonly pod: core.Pod }
  /** Updates the claims' owners for the retention policy. */
  | { readonly type: 'own-claims'; readonly pod: core.Pod };

/** The actions in order, until one fails. OrderedReady sets create or delete one pod at a time. */
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
  /** Later pods must wait. */
  readonly isBlocked: boolean;
}

interface Slot {
  readonly ordinal: number;
  readonly pod: core.Pod | undefined;
}

/** The maximum number of pods and claims that one sync creates, as of pods for replica sets; the next sync continues. */
const MAX_CREATIONS = 500;

/**
 * The ordinals of the set in order: all that have a pod, and the first `maxEmpty` without one. Never all: `replicas` is user input
 * and may be two billion.
 */
function* slots(observed: ObservedStatefulSet, maxEmpty: number): Generator<Slot> {
  const byOrdinal = podsByOrdinal(observed);
  const start = startOf(observed.set);
  const end = start + replicasOf(observed);
  let ordinal = start;
  for (let empty = 0; ordinal < end && empty < maxEmpty; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) empty++;
    yield { ordinal, pod };
  }
  const rest = [...byOrdinal].filter(([key]) => key >= ordinal && key < end).sort(([a], [b]) => a - b);
  for (const [key, pod] of rest) yield { ordinal: key, pod };
}

function podsByOrdinal({ set, pods }: ObservedStatefulSet): ReadonlyMap<number, core.Pod> {
  const byOrdinal = new Map<number, core.Pod>();
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
  }
  return byOrdinal;
}

function replicasOf({ set }: ObservedStatefulSet): number {
  return set.spec?.replicas ?? 1;
}

/** Pods with ordinals outside of the range, highest first. */
function condemnedOf({ set, pods }: ObservedStatefulSet): readonly core.Pod[] {
  const outside = pods.filter((pod) => ordinalOf(set, pod) !== undefined && !isInRange(set, pod));
  return outside.sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
}

function planReplicas(observed: ObservedStatefulSet, isOrdered: boolean): Plan {
  const actions: StatefulAction[] = [];
  const objectsPerPod = 1 + (observed.set.spec?.volumeClaimTemplates ?? []).length;
  let created = 0;
  for (const slot of slots(observed, isOrdered ? 1 : MAX_CREATIONS)) {
    if (slot.pod === undefined && created >= MAX_CREATIONS) continue;
    const plan = planReplica(observed, slot, isOrdered);
    if (plan.actions.some(({ type }) => type === 'create')) created += objectsPerPod;
    pushAll(actions, plan.actions);
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
  // A finished pod is recreated after it is deleted.
  if (core.isPodTerminal(pod)) return { actions: isGoing(pod) ? [] : [{ type: 'delete', pod }], isBlocked: true };
  const hasClaims = (set.spec?.volumeClaimTemplates ?? []).length > 0;
  const claiming: readonly StatefulAction[] = hasClaims && pod.status?.phase === 'Pending' ? [{ type: 'claim', pod }] : [];
  const isBlocked = isGoing(pod) || !isRunningAndAvailable(observed, pod);
  if (isBlocked && isOrdered) return { actions: claiming, isBlocked };
  const isSound = hasIdentity(set, pod) && hasStorage(set, pod) && ownsItsClaims(set, pod, claims);
  return { actions: isSound ? claiming : [...claiming, { type: 'repair', pod }], isBlocked };
}

/** Pods that the update has not reached yet are recreated in the current revision. */
function revisionFor({ set, currentRevision, updateRevision }: ObservedStatefulSet, ordinal: number): 'current' | 'update' {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
  if (currentRevision === updateRevision || type !== 'RollingUpdate') return 'update';
  const currentCount = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  return ordinal < startOf(set) + currentCount ? 'current' : 'update';
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

/** An unhealthy pod blocks the update of those above it. */
function mayTakeAway(observed: ObservedStatefulSet, pod: core.Pod): boolean {
  if (isGoing(pod)) return false;
  if (isRunningAndAvailable(observed, pod)) return true;
  for (const slot of slots(observed, 1)) if (isUnavailable(observed, slot.pod)) return false;
  return condemnedOf(observed).findLast((candidate) => isUnavailable(observed, candidate)) === pod;
}

function updateActions(observed: ObservedStatefulSet): readonly StatefulAction[] {
  const { set, updateRevision } = observed;
  if (set.spec?.updateStrategy?.type === 'OnDelete') return [];
  // Relative to the first ordinal, as upstream.
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const byOrdinal = podsByOrdinal(observed);
  const start = startOf(set);
  // From the last ordinal down to the first missing or unready pod.
  for (let ordinal = start + replicasOf(observed) - 1; ordinal >= start + partition; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    const isOld = pod !== undefined && pod.metadata.labels?.[REVISION_LABEL] !== updateRevision;
    if (isOld && !isGoing(pod)) return [{ type: 'delete', pod, forUpdate: true }];
    if (isUnavailable(observed, pod)) return [];
  }
  return [];
}

/** The set with the desired status; the same object if unchanged. `replaced`: pods that were just deleted for the update. */
export function withStatefulStatus(observed: ObservedStatefulSet, replaced = 0): StatefulSet {
  const { set, currentRevision, updateRevision, now } = observed;
  const pods = observed.pods.filter((pod) => ordinalOf(set, pod) !== undefined);
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const of = (revision: string) => pods.filter((pod) => !isGoing(pod) && pod.metadata.labels?.[REVISION_LABEL] === revision).length;
  const updated = of(updateRevision);
  const { replicas = 1, updateStrategy } = set.spec ?? {};
  const isComplete = updateStrategy?.type === 'RollingUpdate' && [updated, ready.length, pods.length].every((count) => count === replicas);
  const { collisionCount = 0, conditions } = set.status ?? {};
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
    collisionCount,
    ...(conditions && { conditions }),
  };
  return deepEqual(set.status, status) ? set : { ...set, status };
}
