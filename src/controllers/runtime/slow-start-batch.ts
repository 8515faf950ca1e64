export interface BatchResult {
  readonly successes: number;
  /** The error of the first failing batch; later batches were skipped. */
  readonly failure: unknown;
}

/**
 * Calls `work` for 0 to `count` - 1 in batches that double from `initialSize`, and stops after the first batch with a failure, so that
 * calls that all fail alike (a quota, a webhook) cost few requests.
 */
export async function slowStartBatch(count: number, initialSize: number, work: (index: number) => Promise<void>): Promise<BatchResult> {
  let successes = 0;
  let next = 0;
  for (let size = Math.min(count, initialSize); size > 0; size = Math.min(2 * size, count - next)) {
    const indices = Array.from({ length: size }, (_, i) => next + i);
    next += size;
    const results = await Promise.allSettled(indices.map(work));
    const failed = results.find((result) => result.status === 'rejected');
    successes += results.filter((result) => result.status === 'fulfilled').length;
    if (failed) return { successes, failure: failed.reason };
  }
  return { successes, failure: undefined };
}
