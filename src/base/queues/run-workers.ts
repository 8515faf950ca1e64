import type { WorkQueue } from './work-queue.ts';

/** What to do with a key after its work. Undefined: success, which resets its failures. */
export interface Requeue {
  /** Requeues after this time; counts as success. */
  afterMs: number;
}

export interface RunWorkersOptions<K extends string | number> {
  queue: WorkQueue<K>;
  /** How many keys at a time. Default 1. */
  concurrency?: number;
  /** Stops the workers after their current keys. */
  signal: AbortSignal;
  /** Called for each failure, before the key is requeued with backoff. */
  onError?: (key: K, error: unknown) => void;
}

/**
 * Processes the queue until the signal aborts or the queue is shut down. Failed keys are requeued with backoff. Only one worker waits at a time, and
 * starts another when it gets a key, so that idle queues cost next to nothing.
 */
export function runWorkers<K extends string | number>(
  options: RunWorkersOptions<K>,
  work: (key: K) => Promise<Requeue | undefined> | Promise<void>,
): Promise<void> {
  const { queue, signal, concurrency = 1 } = options;
  return new Promise((resolve, reject) => {
    let workers = 0;
    let waiting = 0;
    const next = async () => {
      waiting++;
      const key = await queue.get(signal);
      waiting--;
      if (key !== undefined && waiting === 0 && workers < concurrency) begin();
      return key;
    };
    const worker = async () => {
      for (let key = await next(); key !== undefined; key = await next()) await workOn(key, options, work);
      if (--workers === 0) resolve();
    };
    const begin = () => {
      workers++;
      worker().catch(reject);
    };
    begin();
  });
}

async function workOn<K extends string | number>(
  key: K,
  { queue, onError }: RunWorkersOptions<K>,
  work: (key: K) => Promise<Requeue | undefined> | Promise<void>,
): Promise<void> {
  try {
    const requeue = await work(key);
    queue.forget(key);
    if (requeue) queue.addAfter(key, requeue.afterMs);
  } catch (error) {
    onError?.(key, error);
    queue.addRateLimited(key);
  } finally {
    queue.done(key);
  }
}
