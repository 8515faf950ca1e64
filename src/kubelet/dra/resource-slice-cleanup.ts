import { resource } from '#api';
import { Backoff, type Clock, type Logger } from '#base';
import type { Client } from '#client';

export interface ResourceSliceCleanupDeps {
  readonly client: Pick<Client, 'of'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
}

/** How long a driver may be disconnected, for example during an update. */
const AWAY_MS = 30_000;
const RETRY = { initialMs: 1000, maxMs: 60_000 };

/** Removes the ResourceSlices of drivers that are no longer on this machine: pods would be scheduled here and never start. */
export class ResourceSliceCleanup implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #waiting = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly deps: ResourceSliceCleanupDeps) {}

  /** When a kubelet starts no driver has registered yet: present ones publish their slices again. */
  removeAll(): void {
    this.#run(this.#stop.signal, async (signal) => this.#remove(undefined, signal));
  }

  departed(driver: string): void {
    this.returned(driver);
    const waiting = new AbortController();
    this.#waiting.set(driver, waiting);
    this.#run(AbortSignal.any([waiting.signal, this.#stop.signal]), async (signal) => {
      await this.deps.clock.sleep(AWAY_MS, signal);
      await this.#remove(driver, signal);
      this.#waiting.delete(driver);
    });
  }

  returned(driver: string): void {
    this.#waiting.get(driver)?.abort();
    this.#waiting.delete(driver);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  #run(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): void {
    const running: Promise<void> = work(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.deps.logger.warn('resource slices of an unregistered driver could not be removed', { error });
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #remove(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, clock, logger, nodeName } = this.deps;
    const fieldSelector = [`spec.nodeName=${nodeName}`, ...(driver === undefined ? [] : [`spec.driver=${driver}`])].join();
    const backoff = new Backoff(RETRY);
    while (!signal.aborted) {
      try {
        await client.of(resource.ResourceSlice).deleteCollection({ fieldSelector });
        return;
      } catch (error) {
        logger.debug('resource slices could not be removed; trying again', { driver, error });
        await clock.sleep(backoff.next(), signal);
      }
    }
  }
}
