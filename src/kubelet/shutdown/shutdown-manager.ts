import { type Clock, childSignal, type Logger, raceAbort } from '#base';
import type { EventRecorder } from '#client';
import type { EvictablePod } from '../eviction/eviction-manager.ts';
import { nodeReference } from '../node/node-reference.ts';
import type { PodRejection } from '../status/pod-status.ts';
import type { ShutdownSource } from './logind.ts';
import { type PriorityPeriod, shutdownGroups } from './shutdown-groups.ts';

export interface ShutdownDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  pods(): readonly EvictablePod[];
  open(onShutdown: (isShuttingDown: boolean) => void, signal: AbortSignal): Promise<ShutdownSource>;
  /** Delays the shutdown until disposed. */
  inhibit(): Promise<AsyncDisposable>;
  /** The node's readiness has changed and must be reported. */
  onChange(): void;
}

const RECONNECT_MS = 1000;
const POLL_MS = 100;
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** Graceful node shutdown: stops pods by priority, lowest first, while the shutdown is delayed. */
export class ShutdownManager {
  #isShuttingDown = false;
  #lock: AsyncDisposable | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly periods: readonly PriorityPeriod[],
    private readonly deps: ShutdownDeps,
  ) {}

  /** Why the node is not ready; undefined when it is. */
  get problem(): string | undefined {
    return this.#isShuttingDown ? 'node is shutting down' : undefined;
  }

  admissionProblem(): PodRejection | undefined {
    return this.#isShuttingDown ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' } : undefined;
  }

  /** Watches until the signal aborts, and reconnects when the connection is lost. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    let isReported = false;
    while (!signal.aborted) {
      try {
        await this.#watch(signal);
      } catch (error) {
        // Logged once: a machine without systemd never has logind.
        if (!signal.aborted && !isReported) logger.warn('the node cannot watch for the shutdown of its machine; trying again', { error });
        isReported = true;
      }
      await clock.sleep(RECONNECT_MS, signal).catch(() => {});
    }
    await this.#work;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    using connectionScope = childSignal(signal);
    using source = await this.deps.open((isShuttingDown) => {
      this.#work = this.#work.then(() => this.#onShutdown(isShuttingDown, connectionScope.signal));
    }, connectionScope.signal);
    const neededMs = this.periods.reduce((sum, { shutdownGracePeriodSeconds }) => sum + shutdownGracePeriodSeconds * 1000, 0);
    if (source.maxDelayMs < neededMs)
      this.deps.logger.warn('the machine waits for less than the grace period of its pods: set InhibitDelayMaxSec in logind.conf', {
        needsSeconds: neededMs / 1000,
        waitsSeconds: source.maxDelayMs / 1000,
      });
    try {
      this.#lock = await this.deps.inhibit();
      await raceAbort(source.closed, signal);
    } finally {
      connectionScope.abort();
      await this.#work;
      await this.#release();
    }
  }

  async #release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.[Symbol.asyncDispose]();
  }

  async #onShutdown(isShuttingDown: boolean, signal: AbortSignal): Promise<void> {
    const { recorder, nodeName, logger } = this.deps;
    this.#isShuttingDown = isShuttingDown;
    const state = isShuttingDown ? 'event' : 'cancellation';
    recorder.normal(nodeReference(nodeName), 'Shutdown', `Shutdown manager detected shutdown ${state}`);
    this.deps.onChange();
    try {
      if (isShuttingDown) {
        await this.endPods(signal);
        await this.#release();
      } else this.#lock ??= await this.deps.inhibit();
    } catch (error) {
      if (!signal.aborted) logger.error('graceful node shutdown failed', { error });
    }
  }

  /** The next group starts when the previous one has ended, or its period is over. */
  async endPods(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const active = this.deps.pods().filter(({ isActive }) => isActive);
    for (const { graceSeconds, pods } of shutdownGroups(this.periods, active)) {
      for (const { pod, evict } of pods.map((entry) => ({ pod: entry.pod, evict: entry.evict.bind(entry) }))) {
        const own = pod.spec?.terminationGracePeriodSeconds ?? graceSeconds;
        evict({ reason: 'Terminated', message: MESSAGE, graceSeconds: Math.min(own, graceSeconds), isDisruption: true, isReported: false });
      }
      const deadline = clock.monotonic() + graceSeconds * 1000;
      while (clock.monotonic() < deadline && !pods.every(({ isOver }) => isOver)) await clock.sleep(POLL_MS, signal);
    }
  }
}
