import { type RateLimiter, type Requeue, runWorkers, WorkQueue } from '#base';
import { type Identified, type InformerHandler, isFault, keyOf, type Lister, parseKey, Quarantine } from '#client';
import { isStatusReason } from '#machinery';
import { coalescingDelayMs } from './coalescing-delay.ts';
import type { ControllerContext, RunningController } from './controller.ts';

export interface KeyedControllerOptions {
  /** The queue's name in metrics. */
  readonly name: string;
  readonly concurrency?: number;
  readonly rateLimiter?: RateLimiter<string>;
  /** A key that failed this often is dropped until its next event. Default: never. */
  readonly maxRetries?: number;
  /** Whether an error is expected and not worth a warning. Conflicts always are. */
  isExpected?(error: unknown): boolean;
  /** The objects of keys, for events about quarantined ones. */
  readonly objects?: Lister<Identified>;
  /** Reconciles one key. Errors requeue it with backoff. */
  sync(key: string): Promise<Requeue | undefined> | Promise<void>;
}

/** A rate-limited queue of object keys and its workers. */
export class KeyedController implements RunningController {
  readonly queue: WorkQueue<string>;
  readonly #quarantine: Quarantine;

  constructor(
    private readonly context: Pick<ControllerContext, 'name' | 'clock' | 'metrics' | 'logger' | 'signal' | 'recorder'>,
    private readonly options: KeyedControllerOptions,
  ) {
    this.#quarantine = new Quarantine(context.name, { ...context, recorder: context.recorder(context.name) });
    const { name, rateLimiter } = options;
    this.queue = new WorkQueue<string>({ clock: context.clock, name, metrics: context.metrics, ...(rateLimiter && { rateLimiter }) });
  }

  enqueue(object: Identified): void {
    this.queue.add(keyOf(object));
  }

  enqueueAfter(object: Identified, delayMs: number): void {
    this.queue.addAfter(keyOf(object), delayMs);
  }

  /** For a sync that is linear in this many objects. */
  enqueueCoalesced(object: Identified, objects: number): void {
    this.enqueueAfter(object, coalescingDelayMs(objects));
  }

  /** A handler that enqueues the key of each changed object. */
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
      const requeue = (await sync(key)) as Requeue | undefined;
      this.#quarantine.succeeded(key);
      return requeue;
    } catch (error) {
      if (this.queue.retries(key) < maxRetries) throw error;
      this.context.logger.error('giving up on a key', { queue: this.options.name, key, error });
      return undefined;
    }
  }

  #report(key: string, error: unknown): void {
    const fields = { queue: this.options.name, key, error };
    // A conflict is expected: retried with the new state.
    const isExpected = isStatusReason(error, 'Conflict') || this.options.isExpected?.(error) === true;
    if (this.context.signal.aborted || isExpected) this.context.logger.debug('will try again', fields);
    else if (!isFault(error)) this.context.logger.warn('will try again', fields);
    else this.#quarantine.failed({ key, error, about: () => this.options.objects?.get(parseKey(key)) });
  }
}

/** The object, or its namespace, was deleted in the meantime. */
export function isGone(error: unknown): boolean {
  return isStatusReason(error, 'NotFound');
}
