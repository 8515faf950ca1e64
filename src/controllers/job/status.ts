import type { batch, core } from '#api';
import { findCondition, formatTime } from '#machinery';
import { isPodReady } from '../runtime/pod-state.ts';
import { withoutZeros } from '../runtime/without-zeros.ts';
import { isSuspended, type JobState, newCondition, type ObservedJob } from './reconcile.ts';

/** The result of one sync of a job's pods. */
export interface PassResult {
  readonly deleted: readonly core.Pod[];
  readonly created: number;
  readonly outcome: batch.JobCondition | undefined;
  readonly error: unknown;
  /** Whether pods were managed, so that the Suspended condition can be set. */
  readonly managed: boolean;
}

interface StatusChange {
  readonly status: batch.JobStatus;
  /** Set when the job was suspended or resumed by this change. */
  readonly suspension?: 'Suspended' | 'Resumed';
}

export function statusAfterPass({ job, now }: ObservedJob, state: JobState, pass: PassResult): StatusChange {
  const deletedReady = pass.deleted.filter(isPodReady).length;
  const { active: _active, ready: _ready, startTime: _start, ...rest } = job.status ?? {};
  const status: batch.JobStatus = {
    ...rest,
    ...withoutZeros({ active: state.active.length - pass.deleted.length + pass.created }),
    ready: Math.max(0, state.ready - deletedReady),
    terminating: state.terminating + pass.deleted.length,
    ...(state.startTime !== undefined && { startTime: state.startTime }),
    uncountedTerminatedPods: job.status?.uncountedTerminatedPods ?? {},
  };
  return pass.managed && pass.outcome === undefined ? withSuspension(job, status, now) : { status };
}

function withSuspension(job: batch.Job, status: batch.JobStatus, now: number): StatusChange {
  const current = findCondition(status.conditions, 'Suspended');
  const isSuspending = isSuspended(job);
  if ((current?.status === 'True') === isSuspending) return { status };
  const suspension = isSuspending ? 'Suspended' : 'Resumed';
  const text = newCondition('Suspended', `Job${suspension}`, `Job ${suspension.toLowerCase()}`, now);
  const condition = { ...text, status: isSuspending ? 'True' : 'False' };
  const others = (status.conditions ?? []).map((entry) => (entry === current ? condition : entry));
  const conditions = current === undefined ? [...others, condition] : others;
  const { startTime: _, ...rest } = status;
  return { suspension, status: isSuspending ? { ...rest, conditions } : { ...status, conditions, startTime: formatTime(now) } };
}

/** A job ends when every pod is counted and none is terminating. */
export function finalCondition({ uncountedTerminatedPods, terminating }: batch.JobStatus, final: batch.JobCondition | undefined) {
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  return succeeded.length + failed.length > 0 || (terminating ?? 0) > 0 ? undefined : final;
}

export function finishedStatus(status: batch.JobStatus, final: batch.JobCondition): batch.JobStatus {
  const conditions = [...(status.conditions ?? []).filter(({ type }) => type !== final.type), final];
  const { lastTransitionTime } = final;
  return { ...status, conditions, ...(final.type === 'Complete' && lastTransitionTime && { completionTime: lastTransitionTime }) };
}
