import { core } from '#api';
import type { Clock, Logger } from '#base';
import type { Client, Lister } from '#client';
import { isStatusReason } from '#machinery';
import type { SchedulerCache } from './cache/scheduler-cache.ts';
import type { EventWriter } from './event-writer.ts';
import type { Diagnosis } from './framework/diagnosis.ts';
import type { Nominations } from './framework/nominations.ts';
import type { PostFilterResult } from './framework/plugin.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { PodStatusChange, PodStatusWriter } from './pod-status-writer.ts';
import type { QueuedPod } from './queue/queued-pod.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface SchedulingFailure {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  readonly events: EventWriter;
  /** The name of the scheduler. */
  readonly profile: string;
  readonly startedAt: number;
  readonly diagnosis?: Diagnosis;
  readonly preemption?: PostFilterResult | undefined;
  /** The node to nominate; '' clears the nomination, undefined keeps it. */
  readonly nominatedNode?: string | undefined;
}

export interface FailureDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  readonly metrics: SchedulerMetrics;
  readonly pods: Lister<core.Pod>;
  readonly status: PodStatusWriter;
}

const NO_PLUGINS: ReadonlySet<string> = new Set();

/** Handles a failed scheduling attempt: requeues the pod, records the event and condition, evicts preemption victims. */
export class FailureHandler {
  readonly #deps: FailureDeps;
  readonly #running = new Set<Promise<void>>();

  constructor(deps: FailureDeps) {
    this.#deps = deps;
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  handle(queued: QueuedPod, failure: SchedulingFailure): void {
    const { clock, metrics, cache, queue, pods } = this.#deps;
    const { reason, profile, startedAt, diagnosis, preemption, nominatedNode } = failure;
    metrics.attempted(reason === 'Unschedulable' ? 'unschedulable' : 'error', profile, (clock.monotonic() - startedAt) / 1000);
    const { info } = queued;
    const pod = pods.get(info.pod.metadata);
    // Deleted, recreated or bound by another scheduler: do not requeue.
    if (pod === undefined || pod.metadata.uid !== info.uid || pod.spec?.nodeName) return void queue.done(info.uid);
    if (pod !== info.pod) queued.info = cache.podInfo(pod);
    queue.failed(queued, { rejectedBy: diagnosis?.rejectedBy ?? NO_PLUGINS, pendingOn: diagnosis?.pendingOn ?? NO_PLUGINS });
    this.#nominate(queued.info, nominatedNode);
    this.#report(queued.info, failure);
    if (preemption?.cleanUp !== undefined) this.#run(preemption.cleanUp);
    if (preemption?.victims !== undefined) this.#preempt(queued.info, failure, preemption);
    else if (preemption !== undefined) metrics.preempted(0);
  }

  #nominate(info: PodInfo, nominatedNode: string | undefined): void {
    const { nominations } = this.#deps;
    if (nominatedNode === undefined) return;
    if (nominatedNode === '') nominations.delete(info.uid);
    else nominations.set(info, nominatedNode);
  }

  #report(info: PodInfo, { reason, message, events, nominatedNode }: SchedulingFailure): void {
    const { pod } = info;
    events.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message });
    const condition = { type: 'PodScheduled', status: 'False', reason, message };
    this.#patch(pod, { condition, nominatedNode });
  }

  #preempt(preemptor: PodInfo, failure: SchedulingFailure, { nominatedNode = '', victims = [] }: PostFilterResult): void {
    const { nominations, metrics } = this.#deps;
    metrics.preempted(victims.length);
    const remaining = victims.filter(({ pod }) => pod.metadata.deletionTimestamp == null);
    // All victims are terminating already: wait for them.
    if (remaining.length === 0) return;
    for (const victim of remaining) this.#run(() => this.#evict(victim, { preemptor, nodeName: nominatedNode, failure }));
    // Lower-priority pods nominated to this node lose their nomination.
    for (const other of [...nominations.on(nominatedNode)]) {
      if (other.priority >= preemptor.priority) continue;
      nominations.delete(other.uid);
      this.#patch(other.pod, { nominatedNode: '' });
    }
  }

  async #evict(
    victim: PodInfo,
    { preemptor, nodeName, failure }: { preemptor: PodInfo; nodeName: string; failure: SchedulingFailure },
  ): Promise<void> {
    const { client, status } = this.#deps;
    const { pod } = victim;
    const message = `${failure.profile}: preempting to accommodate a higher priority pod`;
    await status.write(pod, { condition: { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message } });
    await client.of(core.Pod).delete(pod.metadata, { preconditions: { uid: victim.uid } });
    const note = `Preempted by pod ${preemptor.uid} on node ${nodeName}`;
    failure.events.record(pod, { type: 'Normal', reason: 'Preempted', action: 'Preempting', note });
  }

  #patch(pod: core.Pod, change: PodStatusChange): void {
    this.#run(() => this.#deps.status.write(pod, change));
  }

  #run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        // The pod was deleted or recreated: drop the status update.
        const isExpected = isStatusReason(error, 'NotFound') || isStatusReason(error, 'Conflict');
        this.#deps.logger[isExpected ? 'debug' : 'error']('a pod could not be written', { error });
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
