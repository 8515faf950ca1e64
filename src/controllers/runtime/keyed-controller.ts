import { type RateLimiter, type Requeue, runWorkers, WorkQueue } from '#base';
import { type Identified, type InformerHandler, keyOf } from '#client';
import { isStatusReason } from '#machinery';
import type { ControllerContext, RunningController } from './controller.ts';

export interface KeyedControllerOptions {
  /** Of the queue, as its metrics name it. */
  readonly name: string;
  readonly concurrency?: number;
  readonly rateLimiter?: RateLimiter<string>;
  /** A key that failed this often is given up until something changes. Default: never. */
  readonly maxRetries?: number;
  /** Whether an error is part of the work, and not worth a warning. Conflicts always are. */
  isExpected?(error: unknown): boolean;
  /** Brings one key's world in order. What it throws makes the key come again, later each time. */
  sync(key: string): Promise<Requeue | undefined> | Promise<void>;
}

/** A queue of object keys and the workers that bring them in order: the heart of every controller. */
export class KeyedController implements RunningController {
  readonly queue: WorkQueue<string>;

  constructor(
    private readonly context: Pick<ControllerContext, 'clock' | 'metrics' | 'logger' | 'signal'>,
    private readonly options: KeyedControllerOptions,
  ) {
    const { name, rateLimiter } = options;
    this.queue = new WorkQueue<string>({ clock: context.clock, name, metrics: context.metrics, ...(rateLimiter && { rateLimiter }) });
  }

  enqueue(object: Identified): void {
    this.queue.add(keyOf(object));
  }

  enqueueAfter(object: Identified, delayMs: number): void {
    this.queue.addAfter(keyOf(object), delayMs);
  }

  /** For an informer whose every change concerns the object's own key. */
  handler<T extends Identified>(): InformerHandler<T> {
    return { add: (object) => this.enqueue(object), update: (_, object) => this.enqueue(object), delete: (object) => this.enqueue(object) };
  }

  async run(): Promise<void> {
    const { signal } = this.context;
    const { concurrency = 1 } = this.options;
    await runWorkers({ queue: this.queue, concurrency, signal, onError: (key, error) => this.#report(key, error) }, (key) =>
      this.#sync(key),
    );
    this.queue.shutDown();
  }

  async #sync(key: string): Promise<Requeue | undefined> {
    const { sync, maxRetries = Infinity } = this.options;
    try {
      return (await sync(key)) as Requeue | undefined;
    } catch (error) {
      if (this.queue.retries(key) < maxRetries) throw error;
      this.context.logger.error('giving up on a key', { queue: this.options.name, key, error });
      return undefined;
    }
  }

  #report(key: string, error: unknown): void {
    const fields = { queue: this.options.name, key, error };
    // Somebody else wrote first: part of the work, and solved by reading again.
    const isExpected = isStatusReason(error, 'Conflict') || this.options.isExpected?.(error) === true;
    if (this.context.signal.aborted || isExpected) this.context.logger.debug('will try again', fields);
    else this.context.logger.warn('will try again', fields);
  }
}

/** What a controller works on often goes away meanwhile. */
export function isGone(error: unknown): boolean {
  return isStatusReason(error, 'NotFound');
}
