import type { core } from '#api';
import { maxOf } from '#base';
import { finishedAt, indexFailures, indexIgnoredFailures } from './job-pods.ts';

const INITIAL_MS = 10_000;
const MAX_MS = 600_000;

export interface FailureRecord {
  readonly failures: number;
  readonly lastFailure: number | undefined;
}

const NONE: FailureRecord = { failures: 0, lastFailure: undefined };

/** Failures since the last success, including pods that have just finished. */
export function recordFailures(
  before: FailureRecord | undefined,
  succeeded: readonly core.Pod[],
  failed: readonly core.Pod[],
): FailureRecord {
  const failures = failed.map(finishedAt).sort((a, b) => a - b);
  if (succeeded.length === 0) {
    const previous = before ?? NONE;
    return failures.length === 0 ? previous : { failures: previous.failures + failures.length, lastFailure: failures.at(-1) };
  }
  const lastSuccess = maxOf(succeeded.map(finishedAt));
  const later = failures.filter((time) => time > lastSuccess);
  return { failures: later.length, lastFailure: later.at(-1) };
}

/** How long until the next pod may be created. */
export function remainingBackoff({ failures, lastFailure }: FailureRecord, now: number): number {
  if (failures === 0 || lastFailure === undefined) return 0;
  const backoff = Math.min(INITIAL_MS * 2 ** (failures - 1), MAX_MS);
  return Math.max(0, lastFailure + backoff - now);
}

export function remainingBackoffOfIndex(lastFailed: core.Pod | undefined, now: number): number {
  if (lastFailed === undefined) return 0;
  const failures = indexFailures(lastFailed) + indexIgnoredFailures(lastFailed) + 1;
  return remainingBackoff({ failures, lastFailure: finishedAt(lastFailed) }, now);
}
