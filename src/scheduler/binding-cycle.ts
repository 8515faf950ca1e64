import type { Clock, Logger } from '#base';
import type { SchedulerCache } from './cache/scheduler-cache.ts';
import type { EventWriter } from './event-writer.ts';
import type { Extenders } from './extenders/extenders.ts';
import type { FailureHandler } from './failure-handler.ts';
import { Diagnosis } from './framework/diagnosis.ts';
import type { Nominations } from './framework/nominations.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import { isRejected, messageOf, type Status } from './framework/status.ts';
import { WaitingPods } from './framework/waiting-pods.ts';
import type { PodStatusWriter } from './pod-status-writer.ts';
import type { QueuedPod } from './queue/queued-pod.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { Placement } from './schedule-one.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface BindingDeps {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  readonly failures: FailureHandler;
  readonly extenders: Extenders;
  readonly status: PodStatusWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SchedulerMetrics;
  /** A binding ended: another may start. */
  onBindingEnded(): void;
}

interface Cycle {
  readonly placement: Extract<Placement, { type: 'placed' }>;
  readonly profile: Profile;
  readonly events: EventWriter;
  readonly startedAt: number;
}

/** Runs Permit, PreBind and Bind for assumed pods, concurrently with scheduling. */
export class BindingCycles {
  readonly #deps: BindingDeps;
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: WaitingPods;
  #writes = 0;

  constructor(deps: BindingDeps) {
    this.#deps = deps;
    this.#waiting = new WaitingPods(deps.clock);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Whether a Bind request is in flight; other bindings only wait for Permit or volumes. */
  get isWriting(): boolean {
    return this.#writes > 0;
  }

  async settled(): Promise<void> {
    this.#waiting.rejectAll('the scheduler is stopping');
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Ends the wait of a pod in Permit. */
  reject(uid: string): void {
    this.#waiting.reject(uid, 'pod is deleted');
  }

  start(queued: QueuedPod, cycle: Cycle): void {
    const { cache, nominations } = this.#deps;
    const { info } = queued;
    const { node, state } = cycle.placement;
    cache.assume(info, node);
    nominations.delete(info.uid);
    const unreserved = cycle.profile.reserve(state, info, node);
    const rejection = (unreserved && withMessage('Reserve', unreserved)) ?? this.#waiting.permit(cycle.profile, state, { pod: info, node });
    if (rejection !== undefined) return void this.#undo(queued, cycle, rejection);
    const running = this.#bind(queued, cycle).finally(() => {
      this.#running.delete(running);
      this.#deps.onBindingEnded();
    });
    this.#running.add(running);
  }

  async #bind(queued: QueuedPod, cycle: Cycle): Promise<void> {
    try {
      const rejection = await this.#bindPod(queued.info, cycle);
      if (rejection === undefined) this.#bound(queued, cycle);
      else this.#undo(queued, cycle, rejection);
    } catch (error) {
      this.#deps.logger.error('binding a pod failed', { pod: queued.info.key, error });
      this.#undo(queued, cycle, { code: 'Error', reasons: [String(error)], plugin: '' });
    }
  }

  async #bindPod(info: PodInfo, { placement, profile }: Cycle): Promise<Status | undefined> {
    const { node, state } = placement;
    const isWaiting = this.#waiting.has(info.uid);
    const hasWork = profile.willPreBind(state, info, node);
    if (isWaiting || hasWork) await this.#announce(info, node.name);
    const permitted = isWaiting ? await this.#waiting.permitted(info.uid) : undefined;
    if (permitted !== undefined) return permitted;
    if (hasWork) {
      const rejection = await profile.preBind(state, info, node);
      if (rejection !== undefined) return withMessage('PreBind', rejection);
    }
    this.#writes++;
    try {
      const extended = this.#deps.extenders.binds(info) ? await this.#deps.extenders.bind(info, node) : 'left-out';
      if (extended !== 'left-out') return extended === 'bound' ? undefined : extended;
      const failed = await profile.bind(state, info, node);
      return failed && withMessage('Bind', failed);
    } finally {
      this.#writes--;
    }
  }

  /** Binding may take long: nominatedNodeName shows the cluster autoscaler and others where the pod will run. */
  async #announce({ pod, key }: PodInfo, nominatedNode: string): Promise<void> {
    try {
      await this.#deps.status.write(pod, { nominatedNode });
    } catch (error) {
      this.#deps.logger.warn('the nominated node of a pod could not be written', { pod: key, error });
    }
  }

  #bound(queued: QueuedPod, { placement, profile, events, startedAt }: Cycle): void {
    const { queue, metrics, clock } = this.#deps;
    const { info, attempts, firstTriedAt } = queued;
    queue.done(info.uid);
    profile.postBind(placement.state, info, placement.node);
    const note = `Successfully assigned ${info.key} to ${placement.node.name}`;
    events.record(info.pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
    metrics.attempted('scheduled', profile.schedulerName, (clock.monotonic() - startedAt) / 1000);
    metrics.bound(attempts, (clock.now() - (firstTriedAt ?? clock.now())) / 1000);
  }

  #undo(queued: QueuedPod, { placement, profile, events, startedAt }: Cycle, rejection: Status): void {
    const { cache, queue, failures } = this.#deps;
    const { info } = queued;
    const { node, state } = placement;
    profile.unreserve(state, info, node);
    cache.forget(info);
    // Its assumed resources are free again: pods rejected because of them may fit now.
    queue.moveOn({ resource: 'AssignedPod', action: 'Delete', label: 'AssignedPodDelete', before: info.pod });
    const rejected = isRejected(rejection);
    // The other plugins did not run.
    const diagnosis = new Diagnosis(1);
    if (rejected) diagnosis.setStatus(node, rejection);
    failures.handle(queued, {
      events,
      profile: profile.schedulerName,
      startedAt,
      message: rejected ? diagnosis.message() : messageOf(rejection),
      reason: rejected ? 'Unschedulable' : 'SchedulerError',
      nominatedNode: '',
      ...(rejected && { diagnosis }),
    });
  }
}

function withMessage(point: string, status: Status): Status {
  return isRejected(status) ? status : { ...status, reasons: [`running ${point} plugin "${status.plugin}": ${messageOf(status)}`] };
}
