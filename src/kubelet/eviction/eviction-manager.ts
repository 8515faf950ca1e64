import type { core } from '#api';
import { type Clock, isAbort, type Logger } from '#base';
import type { EventRecorder } from '#client';
import type { PressureState } from '../node/node-pressure.ts';
import { nodeReference } from '../node/node-reference.ts';
import { isCritical } from '../pods/config/critical-pods.ts';
import type { PodEviction } from '../status/pod-status.ts';
import { decide, type EvictionState, isCrossed, NO_PRESSURE } from './decide.ts';
import { evictionMessage } from './eviction-message.ts';
import type { NodeMeasurements, NodeObservation } from './measurements.ts';
import { rankPods } from './rank-pods.ts';
import { type PressureCondition, resourceOf, type Signal, type Threshold } from './thresholds.ts';

/** A candidate for eviction. */
export interface EvictablePod {
  readonly pod: core.Pod;
  readonly isActive: boolean;
  readonly isOver: boolean;
  /** False when it is terminating anyway. */
  evict(eviction: PodEviction): boolean;
}

export interface EvictionOptions {
  readonly nodeName: string;
  readonly thresholds: readonly Threshold[];
  readonly transitionPeriodMs: number;
  readonly maxPodGraceSeconds: number;
}

export interface EvictionDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly pressure: PressureState;
  readonly measurements: NodeMeasurements;
  pods(): readonly EvictablePod[];
  onEvicted?(signal: Signal | 'localStorage'): void;
  /** Frees unused disk space. */
  reclaimDisk(): Promise<void>;
}

const MONITOR_MS = 10_000;
const CLEAN_UP_POLL_MS = 1000;
const CLEAN_UP_LIMIT_MS = 30_000;
/** Even hard evictions send SIGTERM first. */
const IMMEDIATE_GRACE_SECONDS = 1;

/** Monitors the node's resources and evicts pods, one at a time, before they are exhausted. */
export class EvictionManager {
  #state: EvictionState = NO_PRESSURE;
  #conditions: readonly PressureCondition[] = [];

  constructor(
    private readonly options: EvictionOptions,
    private readonly deps: EvictionDeps,
  ) {}

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    try {
      while (!signal.aborted) {
        const evicted = await this.synchronize().catch((error: unknown) => {
          if (!signal.aborted) logger.warn('the available resources of the node could not be measured', { error });
          return [];
        });
        if (evicted.length > 0) await this.#waitForEnd(evicted, signal);
        else await clock.sleep(MONITOR_MS, signal);
      }
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    }
  }

  /** One synchronization. Resolves with the evicted pods. */
  async synchronize(): Promise<readonly EvictablePod[]> {
    const { measurements, clock } = this.deps;
    const { thresholds, transitionPeriodMs } = this.options;
    const observed = await measurements.observe();
    const { observations } = observed;
    const decision = decide(this.#state, { thresholds, transitionPeriodMs, observations, nowMs: clock.now() });
    this.#state = decision.state;
    this.#show(decision.conditions);
    const overLimit = await this.#evictOverLimit();
    if (overLimit.length > 0) return overLimit;
    const [first] = decision.reclaim;
    return first === undefined ? [] : this.#reclaim(first, { ...observed, met: decision.reclaim });
  }

  /** Only changes are written, so that simulated pressure is not overwritten. */
  #show(conditions: readonly PressureCondition[]): void {
    if (conditions.length === this.#conditions.length && conditions.every((name) => this.#conditions.includes(name))) return;
    this.#conditions = conditions;
    const has = (condition: PressureCondition) => conditions.includes(condition);
    this.deps.pressure.set({ memory: has('MemoryPressure'), disk: has('DiskPressure'), pid: has('PIDPressure') });
  }

  /** Evicts pods that exceed their ephemeral storage limits. */
  async #evictOverLimit(): Promise<readonly EvictablePod[]> {
    const { measurements, logger, onEvicted } = this.deps;
    const evicted: EvictablePod[] = [];
    for (const candidate of this.#candidates()) {
      const message = await measurements.localStorageExcess(candidate.pod).catch((error: unknown) => {
        logger.debug('what a pod wrote could not be counted', { error });
        return undefined;
      });
      if (message === undefined || isCritical(candidate.pod)) continue;
      if (!candidate.evict({ reason: 'Evicted', message, graceSeconds: IMMEDIATE_GRACE_SECONDS })) continue;
      evicted.push(candidate);
      onEvicted?.('localStorage');
    }
    return evicted;
  }

  #candidates(): readonly EvictablePod[] {
    return this.deps.pods().filter(({ isActive }) => isActive);
  }

  async #reclaim(threshold: Threshold, observed: NodeObservation & { readonly met: readonly Threshold[] }) {
    const { recorder, logger } = this.deps;
    const resource = resourceOf(threshold.signal);
    recorder.warning(nodeReference(this.options.nodeName), 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (await this.#reclaimWithoutEviction(threshold.signal, observed)) return [];
    const candidates = this.#candidates();
    const uses = await this.deps.measurements.podUses(candidates.map(({ pod }) => pod));
    const ranked = rankPods(
      candidates.map(({ pod }) => pod),
      threshold.signal,
      { uses, hasImageFs: observed.hasImageFs },
    );
    for (const pod of ranked) {
      if (isCritical(pod)) continue;
      const candidate = candidates.find((choice) => choice.pod === pod) as EvictablePod;
      const use = uses.get(pod.metadata.uid ?? '');
      const text = evictionMessage({ resource, pod, use, thresholds: observed.met, observations: observed.observations });
      const graceSeconds = this.#graceSeconds(threshold, pod);
      if (!candidate.evict({ reason: 'Evicted', ...text, graceSeconds, isDisruption: true })) continue;
      this.deps.onEvicted?.(threshold.signal);
      return [candidate];
    }
    logger.warn('the node is short of a resource, and there is no pod to evict', { resource });
    return [];
  }

  #graceSeconds({ graceMs }: Threshold, { spec }: core.Pod): number {
    if (graceMs === 0) return IMMEDIATE_GRACE_SECONDS;
    const { maxPodGraceSeconds } = this.options;
    return Math.min(maxPodGraceSeconds, spec?.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
  }

  /** Dead containers and unused images are removed before any pod is evicted; with a separate image file system only when that one is full. */
  async #reclaimWithoutEviction(signal: Signal, { hasImageFs }: NodeObservation): Promise<boolean> {
    const isDisk = signal.startsWith('imagefs.') || (signal.startsWith('nodefs.') && !hasImageFs);
    if (!isDisk) return false;
    await this.deps.reclaimDisk();
    const { observations } = await this.deps.measurements.observe();
    return !this.options.thresholds.some((threshold) => isCrossed(threshold, observations, true));
  }

  async #waitForEnd(evicted: readonly EvictablePod[], signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const deadline = clock.monotonic() + CLEAN_UP_LIMIT_MS;
    while (clock.monotonic() < deadline && !evicted.every(({ isOver }) => isOver)) await clock.sleep(CLEAN_UP_POLL_MS, signal);
  }
}
