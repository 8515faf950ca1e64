import type { batch, core } from '#api';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { isFailed, isIndexed, isTracked, validIndex } from './job-pods.ts';
import { type JobState, newCondition, type ObservedJob } from './reconcile.ts';

/** More pods than this are counted in several steps, so that the status does not grow without bounds. */
const MAX_UNCOUNTED = 500;

export interface TrackResult {
  /** Written before any finalizer is removed, so that each pod is counted exactly once. */
  readonly status: batch.JobStatus;
  readonly release: readonly core.Pod[];
  readonly hasMore: boolean;
  /** The job's terminal condition, when it is final. */
  readonly final: batch.JobCondition | undefined;
}

/** Records finished pods, and selects those whose finalizer can be removed. `outcome`: the condition with which the job ends. */
export function track(
  { job, pods, released, now }: ObservedJob,
  state: JobState,
  { status, outcome }: { readonly status: batch.JobStatus; readonly outcome: batch.JobCondition | undefined },
): TrackResult {
  const present = new Set(pods.filter((pod) => isTracked(pod) && !released.has(uidOf(pod))).map(uidOf));
  const counted = withoutReleased(status, present);
  const succeeded = [...(counted.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(counted.uncountedTerminatedPods?.failed ?? [])];
  const release: core.Pod[] = [];
  let hasMore = false;
  for (const pod of pods) {
    if (!present.has(uidOf(pod)) || !mayRelease(job, pod, state, outcome)) continue;
    if (succeeded.length + failed.length >= MAX_UNCOUNTED) {
      hasMore = true;
      break;
    }
    release.push(pod);
    note(job, pod, { succeeded, failed, endsInFailure: outcome !== undefined && outcome.type !== 'SuccessCriteriaMet' });
  }
  const uncountedTerminatedPods = withoutZeros({ succeeded, failed });
  const indexes = isIndexed(job) ? indexStatus(state) : {};
  const { status: reported, final } = withOutcome({ ...counted, ...indexes, uncountedTerminatedPods }, outcome, now);
  return { status: reported, release, hasMore, final };
}

function mayRelease(job: batch.Job, pod: core.Pod, { retained }: JobState, outcome: batch.JobCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || outcome !== undefined || pod.status?.phase === 'Succeeded') return true;
  if (!isFailed(job, pod)) return false;
  const index = validIndex(job, pod);
  return index === undefined || retained.get(index) !== pod;
}

interface UncountedPods {
  readonly succeeded: string[];
  readonly failed: string[];
  readonly endsInFailure: boolean;
}

function note(job: batch.Job, pod: core.Pod, { succeeded, failed, endsInFailure }: UncountedPods): void {
  const uid = uidOf(pod);
  if (pod.status?.phase === 'Succeeded' && !failed.includes(uid)) {
    // Succeeded indexes are recorded in completedIndexes instead.
    if (!isIndexed(job) && !succeeded.includes(uid)) succeeded.push(uid);
    return;
  }
  if (!isFailed(job, pod) && !endsInFailure) return;
  if (failed.includes(uid) || (isIndexed(job) && validIndex(job, pod) === undefined)) return;
  if (matchFailurePolicy(job.spec?.podFailurePolicy, pod).counts) failed.push(uid);
}

function indexStatus({ succeededIndexes, failedIndexes }: JobState): batch.JobStatus {
  return {
    ...withoutZeros({ completedIndexes: succeededIndexes.toString(), succeeded: succeededIndexes.size }),
    ...(failedIndexes && { failedIndexes: failedIndexes.toString() }),
  };
}

function withOutcome(status: batch.JobStatus, outcome: batch.JobCondition | undefined, now: number) {
  if (outcome === undefined || outcome.type === 'Failed') return { status, final: outcome };
  const { type, reason = '', message = '' } = outcome;
  const isSaid = status.conditions?.some((condition) => condition.type === type && condition.status === 'True');
  const conditions = isSaid ? (status.conditions ?? []) : [...(status.conditions ?? []), outcome];
  const final = newCondition(type === 'FailureTarget' ? 'Failed' : 'Complete', reason, message, now);
  return { status: { ...status, conditions }, final };
}

/** Pods that have lost their finalizer move from the list to the counters. */
export function withoutReleased(status: batch.JobStatus, present: ReadonlySet<string>): batch.JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const stillSucceeded = succeeded.filter((uid) => present.has(uid));
  const stillFailed = failed.filter((uid) => present.has(uid));
  const counts = withoutZeros({
    succeeded: (status.succeeded ?? 0) + succeeded.length - stillSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - stillFailed.length,
  });
  return { ...status, ...counts, uncountedTerminatedPods: withoutZeros({ succeeded: stillSucceeded, failed: stillFailed }) };
}

function uidOf({ metadata }: core.Pod): string {
  return metadata.uid ?? '';
}
