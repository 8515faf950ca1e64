import type { batch } from '#api';
import { parseTime } from '#machinery';

/** How long a job may stay, in milliseconds; undefined when it may stay for ever, has not finished, or is going already. */
export function timeToLive({ metadata, spec, status }: batch.Job, now: number): number | undefined {
  const ttl = spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const finished = status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True');
  if (!finished?.lastTransitionTime) return undefined;
  return parseTime(finished.lastTransitionTime) + ttl * 1000 - now;
}
