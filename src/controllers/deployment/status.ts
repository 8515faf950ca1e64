import type { apps } from '#api';
import { findCondition, formatTime, parseTime, withoutCondition } from '#machinery';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { allOf, availableOf, type OwnedReplicaSets, replicasOf, sumOf } from './replica-sets.ts';
import { maxUnavailable, replicasInSpec } from './scaling.ts';

type Deployment = apps.Deployment;
type Condition = apps.DeploymentCondition;
type Status = apps.DeploymentStatus;

const NO_LIMIT = 2 ** 31 - 1;

export function hasProgressDeadline({ spec }: Deployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_LIMIT;
}

export interface ConditionUpdate {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** As upstream: a condition with the same status and reason is left unchanged, message included. */
export function withCondition(conditions: readonly Condition[] | undefined, update: ConditionUpdate, now: number): readonly Condition[] {
  const before = findCondition(conditions, update.type);
  if (before?.status === update.status && before.reason === update.reason) return conditions ?? [];
  const time = formatTime(now);
  const lastTransitionTime = before?.status === update.status ? before.lastTransitionTime : time;
  const condition: Condition = { ...update, lastUpdateTime: time, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
  return [...withoutCondition(conditions, update.type), condition];
}

/** The counts, and whether enough pods are available. */
export function countedStatus(deployment: Deployment, sets: OwnedReplicaSets, now: number): Status {
  const all = allOf(sets);
  const available = sumOf(all, availableOf);
  const terminating = all.map(({ status }) => status?.terminatingReplicas);
  const isEnough = available >= replicasInSpec(deployment) - maxUnavailable(deployment);
  const { collisionCount } = deployment.status ?? {};
  const conditions = withCondition(deployment.status?.conditions, isEnough ? ENOUGH : TOO_FEW, now);
  return {
    ...withoutZeros({
      observedGeneration: deployment.metadata.generation,
      replicas: sumOf(all, ({ status }) => status?.replicas ?? 0),
      updatedReplicas: sets.current?.status?.replicas,
      readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas ?? 0),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - available),
      conditions: [...conditions],
    }),
    ...(terminating.every((count) => count !== undefined) && { terminatingReplicas: terminating.reduce((sum, n) => sum + n, 0) }),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

const ENOUGH: ConditionUpdate = {
  type: 'Available',
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
};
const TOO_FEW: ConditionUpdate = {
  type: 'Available',
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
};

/** The status during a rollout, including the Progressing condition. */
export function rolloutStatus(deployment: Deployment, sets: OwnedReplicaSets, now: number): Status {
  const counted = countedStatus(deployment, sets, now);
  const progressed = hasProgressDeadline(deployment)
    ? progressConditions(deployment, sets, { counted, now })
    : withoutCondition(counted.conditions, 'Progressing');
  const failure = replicaFailure(sets);
  const conditions = failure ? withFailure(progressed, failure) : withoutCondition(progressed, 'ReplicaFailure');
  const { conditions: _, ...rest } = counted;
  return { ...rest, ...(conditions.length > 0 && { conditions: [...conditions] }) };
}

function progressConditions(deployment: Deployment, { current }: OwnedReplicaSets, { counted, now }: { counted: Status; now: number }) {
  const { conditions = [] } = counted;
  const before = findCondition(conditions, 'Progressing');
  const isDone = (counted.replicas ?? 0) === (counted.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable';
  if (isDone) return conditions;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const updateOf = (status: 'True' | 'False', reason: string, text: string): ConditionUpdate => ({
    type: 'Progressing',
    status,
    reason,
    message: `${subject} ${text}`,
  });
  if (isComplete(deployment, counted)) {
    return withCondition(conditions, updateOf('True', 'NewReplicaSetAvailable', 'has successfully progressed.'), now);
  }
  if (hasProgressed(deployment.status ?? {}, counted)) {
    return withFreshCondition(conditions, updateOf('True', 'ReplicaSetUpdated', 'is progressing.'), now);
  }
  if (isTimedOut(deployment, conditions, now)) {
    return withCondition(conditions, updateOf('False', 'ProgressDeadlineExceeded', 'has timed out progressing.'), now);
  }
  return conditions;
}

/** Updates lastUpdateTime, from which the progress deadline counts, even if the condition is otherwise unchanged. */
function withFreshCondition(conditions: readonly Condition[], update: ConditionUpdate, now: number): readonly Condition[] {
  const before = findCondition(conditions, update.type);
  const time = formatTime(now);
  const transitionTime = before?.status === update.status ? before.lastTransitionTime : undefined;
  return [...withoutCondition(conditions, update.type), { ...update, lastUpdateTime: time, lastTransitionTime: transitionTime ?? time }];
}

export function isComplete(deployment: Deployment, status: Status): boolean {
  const desired = replicasInSpec(deployment);
  const counts = [status.updatedReplicas ?? 0, status.replicas ?? 0, status.availableReplicas ?? 0];
  return counts.every((count) => count === desired) && (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
}

function hasProgressed(before: Status, now: Status): boolean {
  const oldPods = (status: Status) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldPods(now) < oldPods(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut({ spec }: Deployment, conditions: readonly Condition[], now: number): boolean {
  const condition = findCondition(conditions, 'Progressing');
  if (condition === undefined || condition.reason === 'NewReplicaSetAvailable') return false;
  if (condition.reason === 'ProgressDeadlineExceeded') return true;
  return parseTime(condition.lastUpdateTime ?? '') + (spec?.progressDeadlineSeconds ?? 0) * 1000 < now;
}

/** How long until a stalled rollout exceeds its progress deadline; undefined when it cannot. */
export function timeToDeadline(deployment: Deployment, status: Status, now: number): number | undefined {
  const condition = findCondition(status.conditions, 'Progressing');
  if (!hasProgressDeadline(deployment) || condition === undefined) return undefined;
  if (isComplete(deployment, status) || condition.reason === 'ProgressDeadlineExceeded') return undefined;
  return parseTime(condition.lastUpdateTime ?? '') + (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000 - now;
}

function replicaFailure(sets: OwnedReplicaSets): apps.ReplicaSetCondition | undefined {
  const failureOf = ({ status }: apps.ReplicaSet) => status?.conditions?.filter(({ type }) => type === 'ReplicaFailure') ?? [];
  const own = sets.current ? failureOf(sets.current) : [];
  return own[0] ?? allOf(sets).flatMap(failureOf)[0];
}

function withFailure(conditions: readonly Condition[], failure: apps.ReplicaSetCondition): readonly Condition[] {
  const before = findCondition(conditions, failure.type);
  if (before?.status === failure.status && before.reason === failure.reason) return conditions;
  const { lastTransitionTime } = failure;
  const times = lastTransitionTime === undefined ? {} : { lastTransitionTime, lastUpdateTime: lastTransitionTime };
  return [...withoutCondition(conditions, failure.type), { ...failure, ...times }];
}

/** Pausing stops the progress deadline, resuming restarts it. Undefined: no change. */
export function pauseCondition(deployment: Deployment): ConditionUpdate | undefined {
  if (!hasProgressDeadline(deployment)) return undefined;
  const condition = findCondition(deployment.status?.conditions, 'Progressing');
  if (condition?.reason === 'ProgressDeadlineExceeded') return undefined;
  const isSaid = condition?.reason === 'DeploymentPaused';
  const isPaused = deployment.spec?.paused === true;
  if (isPaused === isSaid) return undefined;
  return isPaused
    ? { type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { type: 'Progressing', status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' };
}
