import type { core } from '#api';
import { type Clock, type Logger, type MetricsRegistry, type Random, whenAborted } from '#base';
import type { Client, InformerFactory } from '#client';
import { BindingCycles } from './binding-cycle.ts';
import { BurstMeter } from './burst-meter.ts';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import { ClusterWatch, nodeChanges, podChanges } from './cluster-watch.ts';
import { buildProfile } from './config/build-profile.ts';
import type { SchedulerConfiguration } from './config/scheduler-configuration.ts';
import { EventWriter } from './event-writer.ts';
import { FailureHandler } from './failure-handler.ts';
import type { ClusterEvent } from './framework/cluster-event.ts';
import { VerdictStore } from './framework/node-verdicts.ts';
import { Nominations } from './framework/nominations.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import { PodStatusWriter } from './pod-status-writer.ts';
import type { QueuedPod } from './queue/queued-pod.ts';
import { QueueingHints } from './queue/queueing-hints.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { NO_NODES_MESSAGE, type Placement, scheduleOne } from './schedule-one.ts';
import { SchedulerMetrics } from './scheduler-metrics.ts';

export interface LoopConfig {
  readonly configuration: SchedulerConfiguration;
  readonly instance: string;
}

export interface LoopDeps {
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
}

interface RunningProfile {
  readonly profile: Profile;
  readonly hints: QueueingHints;
  readonly events: EventWriter;
  readonly verdicts: VerdictStore;
}

/** Others in the process get their turn after this many pods, or this many milliseconds. */
const MAX_PODS_A_TURN = 64;
const MAX_TURN_MS = 8;
/** Bindings that are under way; scheduling waits when there are more, as the server is the slower one then. */
const MAX_BINDINGS = 512;

/** Takes pods from the queue one after another, places each, and lets the binding go its own way. */
export class SchedulingLoop {
  readonly #deps: LoopDeps;
  readonly #configuration: SchedulerConfiguration;
  readonly #watch: ClusterWatch;
  readonly #cache: SchedulerCache;
  readonly #queue: SchedulingQueue;
  readonly #nominations = new Nominations();
  readonly #profiles = new Map<string, RunningProfile>();
  readonly #metrics: SchedulerMetrics;
  readonly #bindings: BindingCycles;
  readonly #failures: FailureHandler;
  readonly #subscriptions: Disposable[] = [];
  readonly #stopping = new AbortController();
  /** Pods that come one after another, each as soon as the one before is placed, leave short pauses: those are no time for other things. */
  readonly #burst: BurstMeter;
  #startIndex = 0;
  #isRunning = false;
  #isScheduled = false;

  constructor({ configuration, instance }: LoopConfig, deps: LoopDeps) {
    this.#deps = deps;
    this.#configuration = configuration;
    this.#watch = new ClusterWatch(deps.informers);
    this.#cache = new SchedulerCache(this.#watch.namespaces);
    this.#metrics = new SchedulerMetrics(deps.metrics);
    this.#burst = new BurstMeter(deps.clock, () => this.#rest());
    for (const profile of configuration.profiles) this.#addProfile(profile, instance);
    this.#queue = this.#makeQueue();
    const shared = { ...deps, cache: this.#cache, queue: this.#queue, nominations: this.#nominations, metrics: this.#metrics };
    const status = new PodStatusWriter(deps.client, deps.clock);
    this.#failures = new FailureHandler({ ...shared, pods: this.#watch.pods.lister, status });
    this.#bindings = new BindingCycles({ ...shared, status, failures: this.#failures, onRoom: () => this.#wake() });
    this.#metrics.watchQueue(this.#queue);
    this.#metrics.watchCache(this.#cache);
    this.#subscribe();
  }

  /** Schedules until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    this.#wake();
    await whenAborted(signal);
  }

  /** Waits for bindings and events that are under way. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#burst.stop();
    this.#queue.close();
    this.#stopping.abort(new DOMException('the scheduler was stopped', 'AbortError'));
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#bindings.settled();
    await this.#failures.settled();
    await Promise.all([...this.#profiles.values()].map(({ events }) => events.flushed()));
  }

  #addProfile(config: SchedulerConfiguration['profiles'][number], instance: string): void {
    const { schedulerName } = config;
    const handle = {
      ...this.#deps,
      objects: this.#watch.objects,
      namespaces: this.#watch.namespaces,
      schedulerName,
      signal: this.#stopping.signal,
    };
    const profile = buildProfile(config, handle);
    const { plugins } = profile;
    const all = new Set([...plugins.preEnqueue, ...plugins.preFilter, ...plugins.filter, ...plugins.reserve, ...plugins.permit]);
    const events = new EventWriter({ ...this.#deps, isBusy: () => this.#isBusy() }, { controller: schedulerName, instance });
    this.#profiles.set(schedulerName, { profile, hints: new QueueingHints(all), events, verdicts: new VerdictStore() });
  }

  #makeQueue(): SchedulingQueue {
    const { podInitialBackoffSeconds, podMaxBackoffSeconds, profiles } = this.#configuration;
    const first = this.#profiles.get(profiles[0]?.schedulerName ?? '') as RunningProfile;
    const { queueSort } = first.profile.plugins;
    return new SchedulingQueue({
      clock: this.#deps.clock,
      nominations: this.#nominations,
      compare: (a, b) => queueSort.compare!(a, b),
      preEnqueue: (pod) => this.#profileOf(pod)?.profile.preEnqueue(pod),
      hintsFor: (pod) => (this.#profileOf(pod) ?? first).hints,
      onActive: () => this.#wake(),
      onQueued: (queue, event) => this.#metrics.queued(queue, event),
      initialBackoffMs: podInitialBackoffSeconds * 1000,
      maxBackoffMs: podMaxBackoffSeconds * 1000,
    });
  }

  #profileOf({ pod }: PodInfo): RunningProfile | undefined {
    return this.#profiles.get(pod.spec?.schedulerName ?? '');
  }

  #subscribe(): void {
    const { pods, nodes } = this.#watch;
    this.#subscriptions.push(
      nodes.addHandler({
        add: (node) => this.#nodeAdded(node),
        update: (before, after) => this.#nodeUpdated(before, after),
        delete: (node) => this.#nodeDeleted(node),
      }),
      pods.addHandler({
        add: (pod) => this.#podAdded(pod),
        update: (before, after) => this.#podUpdated(before, after),
        delete: (pod) => this.#podDeleted(pod),
      }),
      this.#watch.onNamespaceChange(() => this.#cache.namespacesChanged()),
      ...this.#watch.onOtherChange((event) => this.#queue.moveOn(event)),
    );
  }

  #nodeAdded(node: core.Node): void {
    this.#cache.setNode(node);
    this.#queue.moveOn({ resource: 'Node', action: 'Add', label: 'NodeAdd', after: node });
  }

  #nodeUpdated(before: core.Node, after: core.Node): void {
    this.#cache.setNode(after);
    for (const event of nodeChanges(before, after)) this.#queue.moveOn(event);
  }

  #nodeDeleted(node: core.Node): void {
    this.#cache.removeNode(node.metadata.name);
    this.#queue.moveOn({ resource: 'Node', action: 'Delete', label: 'NodeDelete', before: node });
  }

  #podAdded(pod: core.Pod): void {
    if (isFinished(pod)) return;
    if (pod.spec?.nodeName) this.#podAssigned(pod);
    else if (this.#profiles.has(pod.spec?.schedulerName ?? '')) this.#queue.add(this.#cache.podInfo(pod));
  }

  #podUpdated(before: core.Pod, after: core.Pod): void {
    if (isFinished(after)) {
      if (!isFinished(before)) this.#podDeleted(after);
      return;
    }
    if (after.spec?.nodeName) {
      if (!before.spec?.nodeName) return void this.#podAssigned(after);
      this.#cache.setPod(after);
      for (const event of podChanges(before, after, { resource: 'AssignedPod', cache: this.#cache })) this.#queue.moveOn(event);
    } else if (this.#profiles.has(after.spec?.schedulerName ?? '')) this.#waitingPodUpdated(before, after);
  }

  #podAssigned(pod: core.Pod): void {
    this.#cache.setPod(pod);
    this.#queue.delete(pod.metadata.uid ?? '');
    this.#queue.moveOn({ resource: 'AssignedPod', action: 'Add', label: 'AssignedPodAdd', after: pod });
  }

  #waitingPodUpdated(before: core.Pod, after: core.Pod): void {
    const uid = after.metadata.uid ?? '';
    // It has its node already; the server only does not know it yet.
    if (this.#cache.isAssumed(uid)) return;
    this.#queue.update(this.#cache.podInfo(after), podChanges(before, after, { resource: 'UnscheduledPod', cache: this.#cache }));
  }

  #podDeleted(pod: core.Pod): void {
    const uid = pod.metadata.uid ?? '';
    this.#queue.delete(uid);
    const wasPlaced = this.#cache.nodeOf(uid) !== undefined;
    this.#bindings.reject(uid);
    if (!wasPlaced) {
      if (pod.status?.nominatedNodeName) this.#queue.moveOn(deleted(pod));
      return;
    }
    this.#cache.removePod(pod);
    this.#queue.moveOn(deleted(pod));
  }

  /** Sees to it that a turn is taken soon: after what is happening now, so that many pods that come together are one turn. */
  #wake(): void {
    if (!this.#isRunning || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const { clock } = this.#deps;
    const start = clock.monotonic();
    for (let pods = 0; this.#isRunning && this.#bindings.size < MAX_BINDINGS; pods++) {
      if (pods >= MAX_PODS_A_TURN || clock.monotonic() - start > MAX_TURN_MS) return void this.#wake();
      const queued = this.#queue.pop();
      if (queued === undefined) return void this.#rest();
      this.#schedule(queued);
    }
  }

  #isBusy(): boolean {
    return this.#burst.isOn || this.#bindings.isWriting || this.#queue.hasActive;
  }

  #rest(): void {
    if (!this.#isBusy()) for (const { events } of this.#profiles.values()) events.resume();
  }

  #schedule(queued: QueuedPod): void {
    const { info } = queued;
    const running = this.#profileOf(info);
    // On its way out, or placed by another way in the meantime: nothing is left to do.
    if (running === undefined || info.isTerminating || this.#cache.nodeOf(info.uid) !== undefined) return void this.#queue.done(info.uid);
    const { clock, random } = this.#deps;
    const { profile, events } = running;
    const startedAt = clock.monotonic();
    const placement = scheduleOne(info, {
      profile,
      snapshot: this.#cache,
      nominations: this.#nominations,
      random,
      verdicts: running.verdicts,
      startIndex: this.#startIndex,
      percentageOfNodesToScore: this.#configuration.percentageOfNodesToScore,
    });
    this.#metrics.found((clock.monotonic() - startedAt) / 1000);
    if (placement.type !== 'placed') return void this.#failed(queued, placement, { running, startedAt });
    this.#startIndex = (this.#startIndex + placement.evaluated) % this.#cache.nodes.length;
    this.#burst.note();
    this.#bindings.start(queued, { placement, profile, events, startedAt });
  }

  #failed(
    queued: QueuedPod,
    placement: Exclude<Placement, { type: 'placed' }>,
    { running, startedAt }: { running: RunningProfile; startedAt: number },
  ): void {
    const { profile, events } = running;
    const common = { events, profile: profile.schedulerName, startedAt, message: placement.message };
    if (placement.type === 'error') {
      const reason = placement.message === NO_NODES_MESSAGE ? 'Unschedulable' : 'SchedulerError';
      return void this.#failures.handle(queued, { ...common, reason, nominatedNode: '' });
    }
    const { diagnosis, preemption } = placement;
    const nominatedNode = preemption === undefined ? '' : preemption.nominatedNode;
    this.#failures.handle(queued, { ...common, reason: 'Unschedulable', diagnosis, preemption, nominatedNode });
  }
}

function isFinished({ status }: core.Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function deleted(pod: core.Pod): ClusterEvent {
  return { resource: 'AssignedPod', action: 'Delete', label: 'AssignedPodDelete', before: pod };
}
