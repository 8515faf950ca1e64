import type { Clock, Logger } from '#base';

export interface SystemObjectsBootstrapDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Writes what is missing; rejects if something could not be written. */
  readonly ensure: () => Promise<void>;
}

/** Upstream's interval of the hooks that do this after its start. */
const INTERVAL_MS = 1000;

/**
 * Writes the system objects, repeatedly until none is missing: a webhook that is down, or denies, may run in a pod of this cluster, which
 * needs the server to run.
 */
export class SystemObjectsBootstrap {
  #isComplete = false;

  constructor(private readonly deps: SystemObjectsBootstrapDeps) {}

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Never rejects. */
  async attempt(): Promise<void> {
    try {
      await this.deps.ensure();
      this.#isComplete = true;
    } catch (error) {
      this.deps.logger.error('system objects could not be written; the next attempt follows', { error });
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    while (!this.#isComplete && !signal.aborted) {
      await clock.sleep(INTERVAL_MS, signal).catch(() => {});
      if (!signal.aborted) await this.attempt();
    }
  }
}
