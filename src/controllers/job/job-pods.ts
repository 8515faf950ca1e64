import type { batch, core } from '#api';
import { maxOf } from '#base';
import { findCondition, parseTime } from '#machinery';

export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isTracked({ metadata }: core.Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

export function isIndexed({ spec }: batch.Job): boolean {
  return spec?.completionMode === 'Indexed';
}

export function hasLimitPerIndex(job: batch.Job): boolean {
  return isIndexed(job) && job.spec?.backoffLimitPerIndex !== undefined;
}

/** Undefined when the pod has no completion index. */
export function completionIndex({ metadata }: core.Pod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The pod's completion index if it is within the job's completions. */
export function validIndex(job: batch.Job, pod: core.Pod): number | undefined {
  const index = completionIndex(pod);
  return index !== undefined && index < (job.spec?.completions ?? 0) ? index : undefined;
}

/** With a failure policy or podReplacementPolicy Failed, a pod is replaced only once it has terminated. */
export function replacesOnlyFailed({ spec }: batch.Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

export function isFailed(job: batch.Job, { status, metadata }: core.Pod): boolean {
  if (status?.phase === 'Failed') return true;
  return !replacesOnlyFailed(job) && metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

export function indexFailures({ metadata }: core.Pod): number {
  return Number(metadata.annotations?.[INDEX_FAILURES] ?? 0);
}

export function indexIgnoredFailures({ metadata }: core.Pod): number {
  return Number(metadata.annotations?.[INDEX_IGNORED_FAILURES] ?? 0);
}

/** When a pod finished: the best available estimate. */
export function finishedAt({ status, spec, metadata }: core.Pod): number {
  const sidecars = new Set((spec?.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map(({ name }) => name));
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.flatMap(({ state }) => (state?.terminated?.finishedAt ? [parseTime(state.terminated.finishedAt)] : []));
  if (times.length > 0) return maxOf(times);
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return parseTime(ready.lastTransitionTime);
  if (metadata.deletionTimestamp) return parseTime(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : 0;
}
