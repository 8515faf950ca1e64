import type { core } from '#api';
import { type Clock, raceAbort } from '#base';
import type { EventRecorder } from '#client';
import { PodEvents } from '../pods/pod-events.ts';
import type { PodEviction, PodRejection } from '../status/pod-status.ts';
import { podsToPreempt, type Shortage } from './choose-pods.ts';

export interface PreemptablePod {
  readonly pod: core.Pod;
  /** False when it has terminated, or is about to. */
  evict(eviction: PodEviction): boolean;
  /** Resolves when its containers have ended. */
  idle(): Promise<void>;
}

export interface PreemptionDeps {
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly signal: AbortSignal;
  onPreempted?(resource: string): void;
}

const DEFAULT_GRACE_SECONDS = 30;
const MIN_WAIT_SECONDS = 10;

/** Ends pods where a critical one has no room. */
export class Preemption {
  /** By the uid of the critical pod. */
  readonly #endings = new Map<string, Promise<unknown>>();

  constructor(private readonly deps: PreemptionDeps) {}

  /** Evicts what the pod needs, or returns why it cannot be admitted. */
  makeRoom(preemptor: core.Pod, shortages: readonly Shortage[], others: readonly PreemptablePod[]): PodRejection | undefined {
    const pods = others.map(({ pod }) => pod);
    const victims = podsToPreempt(preemptor, pods, shortages);
    if (victims === undefined) return unable(shortages);
    const endings = others.filter(({ pod }) => victims.includes(pod)).map((victim) => this.#preempt(victim, shortages));
    this.#endings.set(preemptor.metadata.uid ?? '', Promise.all(endings));
    return undefined;
  }

  /** Resolves when the pods that make room for this one have ended, or had their time. */
  async settled({ metadata: { uid = '' } }: core.Pod): Promise<void> {
    await this.#endings.get(uid);
    this.#endings.delete(uid);
  }

  /** Never rejects. */
  async #preempt(victim: PreemptablePod, [shortage]: readonly Shortage[]): Promise<void> {
    const { clock, recorder, signal, onPreempted } = this.deps;
    const graceSeconds = Number(victim.pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS);
    const isEvicted = victim.evict({
      ...{ reason: 'Preempting', message: 'Preempted in order to admit critical pod', graceSeconds },
      ...{ isDisruption: true, disruptionMessage: 'Pod was preempted by Kubelet to accommodate a critical pod.' },
    });
    if (!isEvicted) return;
    const waitMs = Math.max(graceSeconds * 1.5, MIN_WAIT_SECONDS) * 1000;
    const hasEnded = await raceAbort(
      Promise.race([victim.idle().then(() => true), clock.sleep(waitMs, signal).then(() => false)]),
      signal,
    ).catch(() => true);
    if (hasEnded) onPreempted?.(shortage?.resource ?? '');
    else new PodEvents(recorder, () => victim.pod).warning(undefined, 'ExceededGracePeriod', EXCEEDED);
  }
}

const EXCEEDED = 'Container runtime did not kill the pod within specified grace period.';

function unable(shortages: readonly Shortage[]): PodRejection {
  const list = shortages.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('');
  const detail = `error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${list}]`;
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: ${detail}`,
  };
}
