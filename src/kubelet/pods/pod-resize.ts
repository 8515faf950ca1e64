import type { core } from '#api';
import type { Clock } from '#base';
import { findCondition, formatTime } from '#machinery';
import type { PodRejection } from '../status/pod-status.ts';
import { allocatedByStatus, allocationOf, isAllocated, type PodAllocation, withAllocation } from './pod-allocation.ts';
import type { PodEvents } from './pod-events.ts';
import { resizeDetails } from './resizes.ts';

export const RESIZE_PENDING = 'PodResizePending';
export const RESIZE_IN_PROGRESS = 'PodResizeInProgress';
export const INFEASIBLE = 'Infeasible';

export interface PodResizeDeps {
  readonly clock: Clock;
  readonly events: PodEvents;
}

/**
 * The resources allocated to a pod, and the progress of a resize: while a resize does not fit, the pod keeps its allocation. After a
 * restart of the kubelet it is restored from the status in the API.
 */
export class PodResize {
  readonly #deps: PodResizeDeps;
  #allocation: PodAllocation | undefined;
  #pending: core.PodCondition | undefined;
  #inProgress: core.PodCondition | undefined;

  constructor(pod: core.Pod, deps: PodResizeDeps) {
    this.#deps = deps;
    if (pod.status?.startTime === undefined) return;
    this.#pending = findCondition(pod.status.conditions, RESIZE_PENDING);
    this.#inProgress = findCondition(pod.status.conditions, RESIZE_IN_PROGRESS);
    this.#allocation = this.#pending === undefined ? allocationOf(pod) : allocatedByStatus(pod);
  }

  get conditions(): readonly core.PodCondition[] {
    return [this.#pending, this.#inProgress].filter((condition) => condition !== undefined);
  }

  /** Waits until other pods make room. */
  get isDeferred(): boolean {
    return this.#pending?.reason === 'Deferred';
  }

  get isInProgress(): boolean {
    return this.#inProgress !== undefined;
  }

  get pendingSince(): string {
    return this.#pending?.lastTransitionTime ?? '';
  }

  /** The pod with its allocated resources. */
  allocated(pod: core.Pod): core.Pod {
    return this.#allocation === undefined ? pod : withAllocation(pod, this.#allocation);
  }

  /** The node has admitted the pod as it is. */
  admitted(pod: core.Pod): void {
    this.#allocation = allocationOf(pod);
  }

  /** Allocates the requested resources if `admit` returns no problem. */
  settle(pod: core.Pod, admit: (pod: core.Pod) => PodRejection | undefined): void {
    if (this.#allocation === undefined) return;
    if (isAllocated(pod, this.#allocation)) {
      this.#pending = undefined;
      return;
    }
    const problem = admit(pod);
    if (problem !== undefined) this.#postpone(pod, problem);
    else this.#start(pod);
  }

  #start(pod: core.Pod): void {
    this.#allocation = allocationOf(pod);
    this.#pending = undefined;
    this.#inProgress = this.#condition(RESIZE_IN_PROGRESS, { generation: pod.metadata.generation });
    this.#deps.events.normal(undefined, 'ResizeStarted', `Pod resize started: ${resizeDetails(pod)}`);
  }

  #postpone(pod: core.Pod, { reason, message }: PodRejection): void {
    const { generation } = pod.metadata;
    const isInfeasible = reason === INFEASIBLE;
    const before = this.#pending;
    const next = this.#condition(RESIZE_PENDING, { reason: isInfeasible ? INFEASIBLE : 'Deferred', message, generation }, before);
    const isNews = before?.reason !== next.reason || before?.observedGeneration !== next.observedGeneration;
    if (!isNews && before?.message === message) return;
    this.#pending = next;
    // As upstream, the event names the reason of the admission, the condition does not.
    const text = `Pod resize ${reason}: ${resizeDetails(pod, { error: message })}`;
    if (isNews) this.#deps.events.warning(undefined, isInfeasible ? 'ResizeInfeasible' : 'ResizeDeferred', text);
  }

  /** The containers could not be given what the pod was given. */
  failed(pod: core.Pod, message: string): void {
    const before = this.#inProgress;
    if (before?.reason === 'Error' && before.message === message) return;
    const generation = before?.observedGeneration ?? pod.metadata.generation;
    this.#inProgress = this.#condition(RESIZE_IN_PROGRESS, { reason: 'Error', message, generation }, before);
    const text = `Pod resize error: ${resizeDetails(pod, { generation, error: message })}`;
    this.#deps.events.warning(undefined, 'ResizeError', text);
  }

  /** The containers have what the pod was given. */
  completed(pod: core.Pod): void {
    if (this.#inProgress === undefined) return;
    const { observedGeneration: generation = pod.metadata.generation } = this.#inProgress;
    this.#inProgress = undefined;
    this.#deps.events.normal(undefined, 'ResizeCompleted', `Pod resize completed: ${resizeDetails(pod, { generation })}`);
  }

  /** A pod that has ended is not resized. */
  ended(): void {
    this.#pending = undefined;
    this.#inProgress = undefined;
  }

  #condition(type: string, { reason, message, generation }: ResizeState, before?: core.PodCondition): core.PodCondition {
    const now = formatTime(this.#deps.clock.now());
    const lastTransitionTime = before !== undefined && before.reason === reason ? (before.lastTransitionTime ?? now) : now;
    return {
      ...{ type, status: 'True', lastProbeTime: now, lastTransitionTime },
      ...(generation && { observedGeneration: generation }),
      ...(reason && { reason }),
      ...(message && { message }),
    };
  }
}

interface ResizeState {
  readonly reason?: string;
  readonly message?: string;
  readonly generation?: number | undefined;
}
