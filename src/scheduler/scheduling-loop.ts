import { core } from '#api';
import { type Clock, type Logger, type MetricsRegistry, pushAll, type Random, waitForAbort } from '#base';
import { type Client, type EventRecorder, type InformerFactory, Quarantine } from '#client';
import { BindingCycles } from './binding-cycle.ts';
import { BurstMeter } from './burst-meter.ts';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import { ClusterWatch, nodeChanges, podChanges } from './cluster-watch.ts';
import { buildProfile } from './config/build-profile.ts';
import type { SchedulerConfiguration } from './config/scheduler-configuration.ts';
import { EventWriter } from './event-writer.ts';
import { Extenders } from './extenders/extenders.ts';
import { scheduleWithExtenders } from './extenders/schedule-with-extenders.ts';
import { FailureHandler } from './failure-handler.ts';
import type { ClusterEvent } from './framework/cluster-event.ts';
import { FilterResultStore } from './framework/filter-result-cache.ts';
import { Nominations } from './framework/nominations.ts';
import type { PodInfo } from './framework/pod-info.ts';
import type { Profile } from './framework/profile.ts';
import { PodStatusWriter } from './pod-status-writer.ts';
import type { QueuedPod } from './queue/queued-pod.ts';
import { QueueingHints } from './queue/queueing-hints.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { NO_NODES_MESSAGE, type Placement, type SchedulingContext, scheduleOne } from './schedule-one.ts';
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

interface Attempt {
  readonly running: RunningProfile;
  readonly startedAt: number;
}

interface RunningProfile {
  readonly profile: Profile;
  readonly hints: QueueingHints;
  readonly events: EventWriter;
  readonly filterResults: FilterResultStore;
}

/** Yields to the event loop after this many pods or milliseconds. */
const MAX_PODS_A_TURN = 64;
const MAX_TURN_MS = 8;
/** Bindings in flight at most; above it scheduling waits, as the API server is the bottleneck. */
const MAX_BINDINGS = 512;

/** Takes pods from the queue one after another and places each; bindings run concurrently. */
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
  readonly #extenders: Extenders;
  /** The pod that waits for extenders: no other is placed meanwhile. */
  #consultation: Promise<void> | undefined;
  readonly #quarantine: Quarantine;
  readonly #subscriptions: Disposable[] = [];
  readonly #stopping = new AbortController();
  /** A steady stream of single pods leaves short pauses; deferred work does not start in those. */
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
    this.#burst = new BurstMeter(deps.clock, () => this.#resumeEvents());
    for (const profile of configuration.profiles) this.#addProfile(profile, instance);
    this.#queue = this.#makeQueue();
    this.#extenders = new Extenders(configuration.extenders, { ...deps, signal: this.#stopping.signal });
    const shared = { ...deps, cache: this.#cache, queue: this.#queue, nominations: this.#nominations, metrics: this.#metrics };
    const status = new PodStatusWriter(deps.client, deps.clock);
    this.#failures = new FailureHandler({ ...shared, pods: this.#watch.pods.lister, status });
    this.#bindings = new BindingCycles({
      ...shared,
      status,
      failures: this.#failures,
      extenders: this.#extenders,
      onBindingEnded: () => this.#wake(),
    });
    this.#quarantine = new Quarantine('scheduler', { ...deps, recorder: this.#recorder() });
    this.#metrics.watchQueue(this.#queue);
    this.#metrics.watchCache(this.#cache);
    this.#subscribe();
  }

  /** Schedules until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    this.#wake();
    await waitForAbort(signal);
  }

  /** Waits for bindings and events in progress. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#burst.stop();
    this.#queue.close();
    this.#stopping.abort(new DOMException('the scheduler was stopped', 'AbortError'));
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
    await this.#consultation;
    await this.#bindings.settled();
    this.#extenders.close();
    await this.#failures.settled();
    await Promise.all([...this.#profiles.values()].map(({ events }) => events.flushed()));
  }

  #addProfile(config: SchedulerConfiguration['profiles'][number], instance: string): void {
    const { schedulerName } = config;
    const handle = {
      ...this.#deps,
      objects: this.#watch.objects,
      namespaces: this.#watch.namespaces,
      onClaimChange: (listener: (claim: core.PersistentVolumeClaim) => void) =>
        void this.#subscriptions.push(this.#watch.onClaimChange(listener)),
      schedulerName,
      signal: this.#stopping.signal,
    };
    const profile = buildProfile(config, handle);
    const { plugins } = profile;
    const all = new Set([...plugins.preEnqueue, ...plugins.preFilter, ...plugins.filter, ...plugins.reserve, ...plugins.permit]);
    const events = new EventWriter({ ...this.#deps, isBusy: () => this.#isBusy() }, { controller: schedulerName, instance });
    this.#profiles.set(schedulerName, { profile, hints: new QueueingHints(all), events, filterResults: new FilterResultStore() });
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
    pushAll(
      this.#subscriptions,
      [
        nodes.addHandler({
          add: (node) => this.#nodeAdded(node),
          update: (before, after) => this.#nodeUpdated(before, after),
          delete: (node) => this.#nodeDeleted(node),
        }),
        pods.addHandler({
          add: (pod) => this.#quarantineOnError(pod, () => this.#podAdded(pod)),
          update: (before, after) => this.#quarantineOnError(after, () => this.#podUpdated(before, after)),
          delete: (pod) => this.#podDeleted(pod),
        }),
        this.#watch.onNamespaceChange(() => this.#cache.namespacesChanged()),
      ],
      this.#watch.onOtherChange((event) => this.#queue.moveOn(event)),
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

  /** A pod that cannot be queued is quarantined, and tried again when it changes. */
  #quarantineOnError(pod: core.Pod, handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#quarantine.failed({ key: pod.metadata.uid ?? '', error, isFinal: true, about: () => pod });
    }
  }

  #recorder(): Pick<EventRecorder, 'warning'> {
    return {
      warning: (about, reason, note) => {
        const pod = about as core.Pod;
        const { events } = this.#profiles.get(pod.spec?.schedulerName ?? '') ?? {};
        events?.record(pod, { type: 'Warning', reason, action: 'Scheduling', note });
      },
    };
  }

  #podAdded(pod: core.Pod): void {
    if (core.isPodTerminal(pod)) return;
    if (pod.spec?.nodeName) this.#podAssigned(pod);
    else if (this.#profiles.has(pod.spec?.schedulerName ?? '')) this.#queue.add(this.#cache.podInfo(pod));
  }

  #podUpdated(before: core.Pod, after: core.Pod): void {
    if (core.isPodTerminal(after)) {
      if (!core.isPodTerminal(before)) this.#podDeleted(after);
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
    // Already assumed on a node; the binding has not been written yet.
    if (this.#cache.isAssumed(uid)) return;
    this.#queue.update(this.#cache.podInfo(after), podChanges(before, after, { resource: 'UnscheduledPod', cache: this.#cache }));
  }

  #podDeleted(pod: core.Pod): void {
    const uid = pod.metadata.uid ?? '';
    this.#quarantine.succeeded(uid);
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

  /** Debounces: pods that arrive together are scheduled in one turn. */
  #wake(): void {
    if (!this.#isRunning || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#scheduleBatch();
    });
  }

  #scheduleBatch(): void {
    const { clock } = this.#deps;
    const start = clock.monotonic();
    for (let pods = 0; this.#isRunning && this.#consultation === undefined && this.#bindings.size < MAX_BINDINGS; pods++) {
      if (pods >= MAX_PODS_A_TURN || clock.monotonic() - start > MAX_TURN_MS) return void this.#wake();
      const queued = this.#queue.pop();
      if (queued === undefined) return void this.#resumeEvents();
      this.#catchPodErrors(queued, () => this.#schedule(queued));
    }
  }

  /** An exception of a plugin fails only the pod that caused it. */
  #catchPodErrors(queued: QueuedPod, schedule: () => void): void {
    const startedAt = this.#deps.clock.monotonic();
    try {
      schedule();
    } catch (error) {
      const { info } = queued;
      this.#quarantine.failed({ key: info.uid, error, about: () => info.pod });
      if (this.#cache.isAssumed(info.uid)) this.#cache.forget(info);
      this.#failed(queued, { type: 'error', message: String(error) }, { running: this.#profileOf(info)!, startedAt });
    }
  }

  #isBusy(): boolean {
    return this.#burst.isOn || this.#bindings.isWriting || this.#queue.hasActive;
  }

  #resumeEvents(): void {
    if (!this.#isBusy()) for (const { events } of this.#profiles.values()) events.resume();
  }

  #schedule(queued: QueuedPod): void {
    const { info } = queued;
    const running = this.#profileOf(info);
    // Terminating, or bound by another scheduler meanwhile: skip.
    if (running === undefined || info.isTerminating || this.#cache.nodeOf(info.uid) !== undefined) return void this.#queue.done(info.uid);
    const startedAt = this.#deps.clock.monotonic();
    const context = this.#context(running);
    if (this.#extenders.concerns(info)) return void this.#consultExtenders(queued, { context, running, startedAt });
    this.#assumeAndBind(queued, scheduleOne(info, context), { running, startedAt });
  }

  #context({ profile, filterResults }: RunningProfile): SchedulingContext {
    return {
      profile,
      snapshot: this.#cache,
      nominations: this.#nominations,
      random: this.#deps.random,
      filterResults,
      startIndex: this.#startIndex,
      percentageOfNodesToScore: this.#configuration.percentageOfNodesToScore,
    };
  }

  #consultExtenders(queued: QueuedPod, { context, ...attempt }: Attempt & { readonly context: SchedulingContext }): void {
    const { info } = queued;
    this.#consultation = scheduleWithExtenders(info, context, this.#extenders)
      .then((placement) => {
        // It may have been placed in the meantime.
        if (this.#cache.nodeOf(info.uid) !== undefined) this.#queue.done(info.uid);
        else if (this.#isRunning) this.#catchPodErrors(queued, () => this.#assumeAndBind(queued, placement, attempt));
      })
      .catch((error: unknown) => this.#deps.logger.error('a pod could not be placed', { pod: info.key, error }))
      .finally(() => {
        this.#consultation = undefined;
        this.#wake();
      });
  }

  #assumeAndBind(queued: QueuedPod, placement: Placement, { running, startedAt }: Attempt): void {
    const { profile, events } = running;
    const { info } = queued;
    this.#metrics.observeSearch((this.#deps.clock.monotonic() - startedAt) / 1000);
    if (placement.type !== 'placed') return void this.#failed(queued, placement, { running, startedAt });
    this.#startIndex = (this.#startIndex + placement.evaluated) % this.#cache.nodes.length;
    this.#quarantine.succeeded(info.uid);
    this.#burst.note();
    this.#bindings.start(queued, { placement, profile, events, startedAt });
  }

  #failed(queued: QueuedPod, placement: Exclude<Placement, { type: 'placed' }>, { running, startedAt }: Attempt): void {
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

function deleted(pod: core.Pod): ClusterEvent {
  return { resource: 'AssignedPod', action: 'Delete', label: 'AssignedPodDelete', before: pod };
}
