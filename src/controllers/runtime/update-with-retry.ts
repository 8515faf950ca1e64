import { type Clock, type Random, retry } from '#base';
import type { Identified, ObjectKey, ResourceClient } from '#client';
import { isStatusReason } from '#machinery';

export interface UpdateWithRetryOptions<T> {
  readonly clock: Clock;
  readonly random: Random;
  readonly key: ObjectKey;
  /** The state to start from; read again after a conflict. */
  readonly first?: T;
  readonly subresource?: 'status';
  readonly signal?: AbortSignal;
  /** The desired state; the same object or undefined when there is nothing to do. */
  change(current: T): T | undefined;
}

const ATTEMPTS = 5;

/** Reads, changes and writes an object, and retries on conflicts. Returns the last state. */
export async function updateWithRetry<T extends Identified>(client: ResourceClient<T>, options: UpdateWithRetryOptions<T>): Promise<T> {
  const { clock, random, key, first, subresource, change, signal } = options;
  const backoff = { initialMs: 10, factor: 1, jitter: 0.1 };
  const retryOn = (error: unknown) => isStatusReason(error, 'Conflict');
  return retry({ clock, random, backoff, attempts: ATTEMPTS, retryOn, ...(signal && { signal }) }, async (attempt) => {
    const current = attempt === 0 && first !== undefined ? first : await client.get(key, { signal });
    const desired = change(current);
    if (desired === undefined || desired === current) return current;
    return subresource === 'status' ? client.updateStatus(desired, { signal }) : client.update(desired, { signal });
  });
}
