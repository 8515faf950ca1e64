import { batch } from '#api';
import { parseTime } from '#machinery';

/** The remaining TTL of a job, in milliseconds; undefined when it has none, is not finished, or is being deleted. */
export function timeToLive({ metadata, spec, status }: batch.Job, now: number): number | undefined {
  const ttl = spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const finished = batch.finishedCondition(status);
  if (!finished?.lastTransitionTime) return undefined;
  return parseTime(finished.lastTransitionTime) + ttl * 1000 - now;
}
