import type { batch, core } from '#api';
import { minOf } from '#base';
import { findCondition, formatTime, parseTime } from '#machinery';
import { isPodActive, isPodReady, isPodTerminating } from '../runtime/pod-state.ts';
import { podsToDelete } from '../runtime/replicas/rank-pods.ts';
import { type FailureRecord, recordFailures, remainingBackoff, remainingBackoffOfIndex } from './backoff.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { IndexSet } from './index-set.ts';
import {
  completionIndex,
  finishedAt,
  hasLimitPerIndex,
  indexFailures,
  indexIgnoredFailures,
  isFailed,
  isIndexed,
  isTracked,
  replacesOnlyFailed,
  validIndex,
} from './job-pods.ts';

type Job = batch.Job;
type Condition = batch.JobCondition;

/** At most this many pods are created or deleted per sync. */
export const MAX_PODS_PER_SYNC = 500;

export interface ObservedJob {
  readonly job: Job;
  readonly pods: readonly core.Pod[];
  /** Pods whose finalizer was removed, though the cache may not show it. */
  readonly released: ReadonlySet<string>;
  readonly failures: FailureRecord | undefined;
  readonly now: number;
}

export interface JobState {
  readonly active: readonly core.Pod[];
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  readonly succeededIndexes: IndexSet;
  readonly failedIndexes: IndexSet | undefined;
  /** The last failed pod of each index that is to be retried: kept until its replacement exists, as it carries the failure count. */
  readonly retained: ReadonlyMap<number, core.Pod>;
  readonly failures: FailureRecord;
  /** Why the job ends, if it does. */
  readonly outcome: Condition | undefined;
  readonly startTime: string | undefined;
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend === true;
}

export function newCondition(type: string, reason: string, message: string, now: number): Condition {
  const time = formatTime(now);
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** The job's state, from its pods. */
export function assessJob(observed: ObservedJob): JobState {
  const { job, pods, released, now } = observed;
  const { status = {}, spec } = job;
  const uncounted = { succeeded: status.uncountedTerminatedPods?.succeeded ?? [], failed: status.uncountedTerminatedPods?.failed ?? [] };
  const isNew = (pod: core.Pod, counted: readonly string[]) =>
    isTracked(pod) && !counted.includes(uidOf(pod)) && !released.has(uidOf(pod)) && (!isIndexed(job) || validIndex(job, pod) !== undefined);
  const succeededPods = pods.filter((pod) => pod.status?.phase === 'Succeeded' && isNew(pod, uncounted.succeeded));
  const failedPods = pods.filter((pod) => isFailed(job, pod) && isNew(pod, uncounted.failed));
  const counted = failedPods.filter((pod) => matchFailurePolicy(spec?.podFailurePolicy, pod).counts);
  const failed = (status.failed ?? 0) + counted.length + uncounted.failed.length;
  const active = pods.filter(isPodActive);
  const indexes = indexesOf(observed);
  const succeeded = isIndexed(job) ? indexes.succeeded.size : (status.succeeded ?? 0) + succeededPods.length + uncounted.succeeded.length;
  const startTime = status.startTime ?? (isSuspended(job) ? undefined : formatTime(now));
  return {
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    succeeded,
    succeededIndexes: indexes.succeeded,
    failedIndexes: indexes.failed,
    retained: hasLimitPerIndex(job) ? retainedPods(observed, active, indexes) : new Map(),
    failures: recordFailures(observed.failures, succeededPods, failedPods),
    outcome: outcomeOf(observed, { failed, indexes, startTime }),
    startTime,
  };
}

interface Indexes {
  readonly succeeded: IndexSet;
  readonly failed: IndexSet | undefined;
}

function indexesOf({ job, pods }: ObservedJob): Indexes {
  if (!isIndexed(job)) return { succeeded: IndexSet.empty, failed: undefined };
  const { completions = 0 } = job.spec ?? {};
  const indexesWhere = (matches: (pod: core.Pod) => boolean) =>
    pods.flatMap((pod) => (isTracked(pod) && matches(pod) ? (validIndex(job, pod) ?? []) : []));
  const succeeded = IndexSet.parse(job.status?.completedIndexes, completions).with(
    indexesWhere(({ status }) => status?.phase === 'Succeeded'),
  );
  if (!hasLimitPerIndex(job)) return { succeeded, failed: undefined };
  const failed = IndexSet.parse(job.status?.failedIndexes, completions).with(indexesWhere((pod) => isIndexFailed(job, pod)));
  return { succeeded, failed };
}

function isIndexFailed(job: Job, pod: core.Pod): boolean {
  if (!isFailed(job, pod)) return false;
  const { action, counts } = matchFailurePolicy(job.spec?.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && indexFailures(pod) >= (job.spec?.backoffLimitPerIndex ?? 0));
}

function retainedPods({ job, pods, released }: ObservedJob, active: readonly core.Pod[], { succeeded, failed }: Indexes) {
  const busy = new Set(active.map(completionIndex));
  const retained = new Map<number, core.Pod>();
  for (const pod of pods) {
    const index = validIndex(job, pod);
    if (index === undefined || !isTracked(pod) || released.has(uidOf(pod)) || !isFailed(job, pod)) continue;
    if (succeeded.has(index) || failed?.has(index) || busy.has(index)) continue;
    const previous = retained.get(index);
    const total = (failedPod: core.Pod) => indexFailures(failedPod) + indexIgnoredFailures(failedPod);
    if (previous === undefined || (total(previous) <= total(pod) && finishedAt(pod) >= finishedAt(previous))) retained.set(index, pod);
  }
  return retained;
}

function uidOf({ metadata }: core.Pod): string {
  return metadata.uid ?? '';
}

// --- why a job ends ------------------------------------------------------------------------------------------------

interface PodCounts {
  readonly failed: number;
  readonly indexes: Indexes;
  readonly startTime: string | undefined;
}

function outcomeOf(observed: ObservedJob, counted: PodCounts): Condition | undefined {
  const { conditions } = observed.job.status ?? {};
  const decided = [findCondition(conditions, 'SuccessCriteriaMet'), findCondition(conditions, 'FailureTarget')];
  const earlier = decided.find((condition) => condition?.status === 'True');
  if (earlier?.type === 'SuccessCriteriaMet') return earlier;
  if (earlier !== undefined) return newCondition('Failed', earlier.reason ?? '', earlier.message ?? '', observed.now);
  const failure = policyFailure(observed) ?? limitFailure(observed, counted) ?? indexFailure(observed.job, counted.indexes);
  if (failure !== undefined) return newCondition('FailureTarget', failure.reason, failure.message, observed.now);
  return successByPolicy(observed, counted.indexes.succeeded);
}

interface Failure {
  readonly reason: string;
  readonly message: string;
}

function policyFailure({ job, pods }: ObservedJob): Failure | undefined {
  const policy = job.spec?.podFailurePolicy;
  if (policy === undefined) return undefined;
  for (const pod of pods) {
    const message = isFailed(job, pod) ? matchFailurePolicy(policy, pod).message : undefined;
    if (message !== undefined) return { reason: 'PodFailurePolicy', message };
  }
  return undefined;
}

function limitFailure({ job, pods, now }: ObservedJob, { failed, startTime }: PodCounts): Failure | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds } = job.spec ?? {};
  if (failed > backoffLimit || isPastRestartLimit(job, pods)) {
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const isOverdue = activeDeadlineSeconds !== undefined && startTime !== undefined && !isSuspended(job);
  if (isOverdue && now - parseTime(startTime) >= activeDeadlineSeconds * 1000) {
    return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  return undefined;
}

function isPastRestartLimit({ spec }: Job, pods: readonly core.Pod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false;
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const statuses = running.flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]);
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const { backoffLimit = 6 } = spec;
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

function indexFailure({ spec }: Job, { succeeded, failed }: Indexes): Failure | undefined {
  if (failed === undefined) return undefined;
  if (spec?.maxFailedIndexes !== undefined && failed.size > spec.maxFailedIndexes) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return { reason: 'MaxFailedIndexesExceeded', message };
  }
  const isAll = failed.size > 0 && failed.size + succeeded.size >= (spec?.completions ?? 0);
  return isAll ? { reason: 'FailedIndexes', message: 'Job has failed indexes' } : undefined;
}

function successByPolicy({ job, now }: ObservedJob, succeeded: IndexSet): Condition | undefined {
  const { successPolicy, completions = 0 } = job.spec ?? {};
  if (!isIndexed(job) || successPolicy === undefined || succeeded.size === 0) return undefined;
  const index = successPolicy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount;
    const required = IndexSet.parse(succeededIndexes, completions);
    const matched = required.countIn(succeeded);
    return required.size > 0 && (matched === required.size || (succeededCount !== undefined && matched >= succeededCount));
  });
  return index < 0 ? undefined : newCondition('SuccessCriteriaMet', 'SuccessPolicy', `Matched rules at index ${index}`, now);
}

// --- which pods to make and delete ---------------------------------------------------------------------------------

export interface PodPlan {
  readonly remove: readonly core.Pod[];
  /** Completion indexes of the pods to create; undefined for non-indexed jobs. */
  readonly create: readonly (number | undefined)[];
  /** When to sync again, because pod creation is in backoff. */
  readonly waitMs: number | undefined;
}

export function planPods({ job, pods, now }: ObservedJob, state: JobState): PodPlan {
  const { active, succeeded, terminating, failures } = state;
  if (isSuspended(job)) return { remove: active.slice(0, MAX_PODS_PER_SYNC), create: [], waitMs: undefined };
  const target = targetActive(job, active.length, succeeded);
  const remove = podsForRemoval(job, active, { count: Math.max(0, active.length - target), now }).slice(0, MAX_PODS_PER_SYNC);
  if (remove.length > 0) return { remove, create: [], waitMs: undefined };
  const missing = target - active.length - (replacesOnlyFailed(job) ? terminating : 0);
  if (missing <= 0) return { remove, create: [], waitMs: undefined };
  const count = Math.min(missing, MAX_PODS_PER_SYNC);
  if (hasLimitPerIndex(job)) return planIndexes(pendingIndexes(job, pods, state, count), state, now);
  const waitMs = remainingBackoff(failures, now);
  if (waitMs > 0) return { remove, create: [], waitMs };
  const create = isIndexed(job) ? pendingIndexes(job, pods, state, count) : Array.from({ length: count }, () => undefined);
  return { remove, create, waitMs: undefined };
}

function targetActive({ spec }: Job, active: number, succeeded: number): number {
  const { parallelism = 1, completions } = spec ?? {};
  if (completions === undefined) return succeeded > 0 ? active : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** Pods with a duplicate or invalid index are removed in any case. */
function podsForRemoval(job: Job, active: readonly core.Pod[], { count, now }: { count: number; now: number }): readonly core.Pod[] {
  const surplus = isIndexed(job) ? duplicates(job, active, now) : [];
  if (surplus.length >= count) return surplus;
  const left = active.filter((pod) => !surplus.includes(pod));
  return [...surplus, ...podsToDelete(left, [], { count: count - surplus.length, now })];
}

function duplicates(job: Job, active: readonly core.Pod[], now: number): readonly core.Pod[] {
  const byIndex = new Map<number, core.Pod[]>();
  const invalid: core.Pod[] = [];
  for (const pod of active) {
    const index = validIndex(job, pod);
    if (index === undefined) invalid.push(pod);
    else if (byIndex.has(index)) byIndex.get(index)!.push(pod);
    else byIndex.set(index, [pod]);
  }
  const doubled = [...byIndex.values()].filter(({ length }) => length > 1);
  return [...invalid, ...doubled.flatMap((pods) => podsToDelete(pods, [], { count: pods.length - 1, now }))];
}

function pendingIndexes(job: Job, pods: readonly core.Pod[], state: JobState, count: number): readonly number[] {
  const { completions = 0 } = job.spec ?? {};
  const ending = replacesOnlyFailed(job) ? pods.filter(isPodTerminating) : [];
  const busy = new Set([...state.active, ...ending].map(completionIndex));
  const pending: number[] = [];
  const { succeededIndexes, failedIndexes = IndexSet.empty } = state;
  for (let index = 0; index < completions && pending.length < count; ) {
    // Whole intervals at once: a status may name billions of indexes.
    const next = failedIndexes.nextAbsent(succeededIndexes.nextAbsent(index));
    if (next === index && !busy.has(index)) pending.push(index);
    index = next === index ? index + 1 : next;
  }
  return pending;
}

function planIndexes(pending: readonly number[], { retained }: JobState, now: number): PodPlan {
  const waits = pending.map((index) => remainingBackoffOfIndex(retained.get(index), now));
  const create = pending.filter((_, i) => waits[i] === 0);
  const delays = waits.filter((wait) => wait > 0);
  return { remove: [], create, waitMs: create.length === 0 && delays.length > 0 ? minOf(delays) : undefined };
}

/** All completions have succeeded and no pod is active. */
export function isComplete({ spec }: Job, succeeded: number, active: number): boolean {
  return active === 0 && (spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions);
}
