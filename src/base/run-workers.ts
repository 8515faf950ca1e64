import type { WorkQueue } from './work-queue.ts';

/** What to do with a key after its work. Nothing: it succeeded, and its failures are forgotten. */
export interface Requeue {
  /** Again after this time; counts as success. */
  afterMs: number;
}

export interface RunWorkersOptions<K extends string | number> {
  queue: WorkQueue<K>;
  /** How many keys at a time. Default 1. */
  concurrency?: number;
  /** Stops the workers: each finishes the key it has. */
  signal: AbortSignal;
  /** Told of each failure, before the key is added again with backoff. */
  onError?: (key: K, error: unknown) => void;
}

/** Works off the queue until the signal aborts or the queue is shut down. A key whose work throws comes again, with backoff. */
export async function runWorkers<K extends string | number>(
  options: RunWorkersOptions<K>,
  work: (key: K) => Promise<Requeue | undefined> | Promise<void>,
): Promise<void> {
  const { concurrency = 1 } = options;
  await Promise.all(Array.from({ length: concurrency }, () => runWorker(options, work)));
}

async function runWorker<K extends string | number>(
  { queue, signal, onError }: RunWorkersOptions<K>,
  work: (key: K) => Promise<Requeue | undefined> | Promise<void>,
): Promise<void> {
  for (let key = await queue.get(signal); key !== undefined; key = await queue.get(signal)) {
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
}
