import type { core } from '#api';
import {
  AsyncSemaphore,
  type Clock,
  childSignal,
  type Logger,
  type MetricsRegistry,
  type OwnedSignal,
  type Random,
  repeat,
  TokenBucket,
} from '#base';
import { type Client, type EventRecorder, Quarantine } from '#client';
import type { KubeletConfiguration } from './configuration/kubelet-configuration.ts';
import type { ContainerRuntime } from './cri/runtime.ts';
import type { NodeMeasurements } from './eviction/measurements.ts';
import { type FailedPull, imageEnsurer } from './images/ensure-image.ts';
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts';
import type { MachineInfo } from './node/machine-info.ts';
import type { NodeConfig } from './node/node-config.ts';
import { NodeLease } from './node/node-lease.ts';
import type { NodeParts } from './node/node-parts.ts';
import type { PressureState } from './node/node-pressure.ts';
import { nodeReference } from './node/node-reference.ts';
import { NodeReporter } from './node/node-reporter.ts';
import { type HousekeepingOptions, runHousekeeping } from './node-housekeeping.ts';
import type { ApiObject } from './pods/api-object.ts';
import { PodConfigs } from './pods/config/pod-configs.ts';
import type { PodHook } from './pods/hooks/pod-hook.ts';
import { PodHooks } from './pods/hooks/pod-hooks.ts';
import { POD_UID } from './pods/labels.ts';
import { admissionProblem } from './pods/pod-admission.ts';
import type { NodeFeed } from './pods/pod-source.ts';
import { sortByResizePriority } from './pods/resize-order.ts';
import { RestartBackoff, restartBackoff } from './pods/restart-backoff.ts';
import { PodWorker, type PodWorkerDeps } from './pods/worker.ts';
import { Preemption } from './preemption/preemption.ts';
import type { Prober } from './prober/prober.ts';
import type { RequestLimits } from './request-limits.ts';
import type { SharedTicker } from './shared-ticker.ts';
import { shutdownPeriods } from './shutdown/shutdown-groups.ts';
import { ShutdownManager } from './shutdown/shutdown-manager.ts';
import { isMirror } from './static-pods/decode-manifest.ts';
import { type StaticPodSources, startStaticPods } from './static-pods/start-static-pods.ts';
import { podResources } from './status/pod-resources.ts';
import type { PodRejection } from './status/pod-status.ts';
import type { KubeletTracing } from './tracing/kubelet-tracing.ts';

export interface NodeAgentDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly runtime: ContainerRuntime;
  readonly recorder: EventRecorder;
  readonly prober: Prober;
  readonly parts?: NodeParts | undefined;
  readonly hooks?: readonly PodHook[];
  readonly pressure: PressureState;
  readonly measurements?: NodeMeasurements | undefined;
  readonly feed: NodeFeed;
  readonly ticker: SharedTicker;
  readonly requestLimits?: RequestLimits | undefined;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: KubeletTracing | undefined;
}

export interface NodeAgentOptions {
  readonly config: NodeConfig;
  /** Upstream's configuration, as given. */
  readonly configuration: KubeletConfiguration;
  readonly machine: MachineInfo;
  readonly housekeeping: HousekeepingOptions;
  readonly registers: boolean;
  /** The node was already running under an earlier kubelet. */
  readonly isContinued: boolean;
  readonly leaseSeconds: number;
  readonly reportMs: number;
  /** The interval of node status computation. Undefined: on changes only. */
  readonly updateMs?: number | undefined;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
}

/** The pause before a broken event stream is opened again. */
const RESUME_MS = 1_000;

/** A running node, from the start of its kubelet until it stops or fails. */
export class NodeAgent {
  readonly #deps: NodeAgentDeps;
  readonly #options: NodeAgentOptions;
  readonly #signal: OwnedSignal;
  readonly #workers = new Map<string, PodWorker>();
  readonly #reporter: NodeReporter;
  readonly #lease: NodeLease;
  readonly #subscriptions: Disposable[] = [];
  readonly #hooks: PodHooks;
  /** Absent: no graceful shutdown. */
  readonly #shutdown: ShutdownManager | undefined;
  readonly #preemption: Preemption;
  #watchingEvents: Promise<void> | undefined;
  #housekeeping: Promise<void> | undefined;
  #workerDeps: PodWorkerDeps | undefined;
  #static: StaticPodSources | undefined;

  constructor(options: NodeAgentOptions, deps: NodeAgentDeps, signal: AbortSignal) {
    this.#options = options;
    this.#deps = deps;
    this.#signal = childSignal(signal);
    this.#hooks = new PodHooks(deps.parts?.hooks ?? deps.hooks ?? []);
    this.#shutdown = this.#shutdownManager();
    const own = { ...deps, signal: this.#signal.signal, problem: () => this.#shutdown?.problem };
    this.#reporter = new NodeReporter(options, own);
    this.#preemption = new Preemption({ ...own, onPreempted: (resource) => deps.kubeletMetrics?.preempted(resource) });
    this.#lease = new NodeLease(options.config.nodeName, options.leaseSeconds, { ...own, node: () => this.#reporter.node });
  }

  /** Resolves when the node is registered and runs its pods. */
  async start(): Promise<void> {
    const { feed, recorder } = this.#deps;
    const { config, isContinued } = this.#options;
    const { signal } = this.#signal;
    if (!isContinued) recorder.normal(nodeReference(config.nodeName), 'Starting', 'Starting kubelet.');
    if (!isContinued || !(await this.#adoptNode())) await this.#reporter.start();
    signal.throwIfAborted();
    this.#lease.start();
    await feed.synced;
    signal.throwIfAborted();
    await this.#usePodCidr(this.#reporter.node);
    this.#workerDeps = await this.#makeWorkerDeps();
    this.#watchingEvents = this.#watchRuntime();
    this.#deps.parts?.followDeviceHealth((uids) => {
      for (const uid of uids) this.#workers.get(uid)?.wake();
    });
    signal.throwIfAborted();
    this.#startStaticPods();
    this.#subscribe();
    // Orphans can only be identified once all manifests are read.
    if (this.#static?.pods.isComplete === true) await this.#removeOrphans();
    this.#housekeeping = Promise.all([this.#startHousekeeping(), this.#shutdown?.run(signal)]).then(() => {});
  }

  get pods(): readonly core.Pod[] {
    return Array.from(this.#workers.values(), ({ pod, status }) => ({ ...pod, status: { ...pod.status, ...status } }));
  }

  /** Resolves when no pod worker is busy. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.idle()));
    if (this.#signal.signal.aborted) await Promise.all([this.#watchingEvents, this.#housekeeping, this.#static?.done]);
  }

  /** Stops the workers; containers keep running. */
  stop(): void {
    this.#signal.abort(new DOMException('the kubelet was stopped', 'AbortError'));
    for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    this.#lease.stop();
    this.#reporter.stop();
    for (const worker of this.#workers.values()) worker.stop();
  }

  #subscribe(): void {
    const { feed } = this.#deps;
    const { nodeName } = this.#options.config;
    this.#subscriptions.push(
      feed.node(nodeName, { add: (node) => this.#observeNode(node), update: (_, node) => this.#observeNode(node) }),
      feed.pods(nodeName, {
        add: (pod) => this.#update(pod),
        update: (_, pod) => this.#update(pod),
        delete: (pod) => this.#remove(pod),
      }),
    );
  }

  #shutdownManager(): ShutdownManager | undefined {
    const { parts } = this.#deps;
    const periods = shutdownPeriods(this.#options.housekeeping);
    if (parts === undefined || periods.length === 0) return undefined;
    return new ShutdownManager(periods, {
      ...this.#deps,
      ...parts.shutdown,
      nodeName: this.#options.config.nodeName,
      pods: () => [...this.#workers.values()],
      onChange: () => this.#reporter.report(),
    });
  }

  async #startHousekeeping(): Promise<void> {
    const { parts, measurements = parts?.measurements, logger } = this.#deps;
    if (measurements === undefined) return;
    const workers = () => [...this.#workers.values()];
    const pods = () => ({
      live: new Set(this.#workers.keys()),
      ended: new Set(workers().flatMap(({ isOver, pod }) => (isOver ? [pod.metadata.uid ?? ''] : []))),
    });
    const onImages = (ids: ReadonlySet<string>) => parts?.pullRecords.prune(ids);
    const own = { ...this.#deps, measurements, onImages, logs: parts?.logs, evictable: workers, pods };
    await runHousekeeping(this.#options.housekeeping, own, this.#signal.signal).catch((error: unknown) => {
      logger.error('housekeeping of the node ended with an error', { error });
    });
  }

  /** A continued node is adopted as the API shows it. */
  async #adoptNode(): Promise<boolean> {
    const { feed } = this.#deps;
    await feed.synced;
    const nodes: core.Node[] = [];
    feed.node(this.#options.config.nodeName, { add: (node) => void nodes.push(node) })[Symbol.dispose]();
    for (const node of nodes) await this.#reporter.adopt(node);
    return nodes.length > 0;
  }

  async #watchRuntime(): Promise<void> {
    const { runtime, logger, clock, kubeletMetrics } = this.#deps;
    const { signal } = this.#signal;
    const onRelist = (durationMs: number) => {
      this.#reporter.relisted();
      kubeletMetrics?.relisted(clock.now(), durationMs);
    };
    const onError = (error: unknown) => logger.error('the event stream of the runtime ended; reconnecting', { error });
    await repeat({ clock, intervalMs: RESUME_MS, signal, onError }, async () => {
      // Starts are caused by the worker itself, which syncs again anyway.
      for await (const { type, podUid } of runtime.getContainerEvents({ signal, onRelist })) {
        if (type === 'stopped') this.#workers.get(podUid)?.wake();
      }
    });
  }

  /** Removes sandboxes of pods that no longer exist. */
  async #removeOrphans(): Promise<void> {
    const { runtime } = this.#deps;
    for (const { id, labels } of await runtime.listPodSandbox()) {
      const uid = labels[POD_UID];
      if (uid !== undefined && !this.#workers.has(uid)) await runtime.removePodSandbox(id);
    }
    await this.#hooks.cleanUpOrphans(new Set(this.#workers.keys()));
  }

  #startStaticPods(): void {
    const { nodeName } = this.#options.config;
    const { signal } = this.#signal;
    const deps = this.#workerDeps as PodWorkerDeps;
    const start = (pod: core.Pod, object: ApiObject) => {
      const worker = new PodWorker(pod, deps, object);
      this.#workers.set(pod.metadata.uid ?? '', worker);
      return worker;
    };
    const onComplete = () => {
      this.#removeOrphans().catch((error: unknown) => this.#deps.logger.warn('orphaned pods could not be cleaned up', { error }));
    };
    const own = { ...this.#deps, nodeName, start, onComplete, node: () => this.#reporter.node };
    this.#static = startStaticPods(this.#options.configuration, own, signal);
  }

  #remove(pod: core.Pod): void {
    if (isMirror(pod)) this.#static?.pods.observeMirror(pod, true);
    else this.#workers.get(pod.metadata.uid ?? '')?.remove();
  }

  #add(pod: core.Pod): void {
    const uid = pod.metadata.uid ?? '';
    const deps = this.#workerDeps;
    if (deps !== undefined && !this.#workers.has(uid)) this.#workers.set(uid, new PodWorker(pod, deps));
  }

  #update(pod: core.Pod): void {
    if (isMirror(pod)) {
      this.#static?.pods.observeMirror(pod, false);
      return;
    }
    const worker = this.#workers.get(pod.metadata.uid ?? '');
    if (worker === undefined) this.#add(pod);
    else worker.update(pod);
  }

  #observeNode(node: core.Node): void {
    this.#reporter.observe(node);
    this.#usePodCidr(node).catch((error: unknown) => this.#deps.logger.warn('the runtime rejected the pod CIDR', { error }));
  }

  async #usePodCidr(node: core.Node | undefined): Promise<void> {
    const { podCIDRs, podCIDR } = node?.spec ?? {};
    const cidrs = podCIDRs ?? (podCIDR ? [podCIDR] : []);
    if (cidrs.length === 0) return;
    await this.#deps.runtime.updateRuntimeConfig({ podCidr: cidrs.join() });
  }

  #admit(pod: core.Pod): PodRejection | undefined {
    const { node } = this.#reporter;
    if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
    const isOther = ({ isActive, pod: other }: PodWorker) => isActive && other.metadata.uid !== pod.metadata.uid;
    const others = [...this.#workers.values()].filter(isOther);
    const { allowedUnsafeSysctls, hasAppArmor } = this.#options.config;
    const shutdown = this.#shutdown?.admissionProblem();
    if (shutdown !== undefined) return shutdown;
    const pluginResources = new Set(Object.keys(this.#deps.parts?.resources.devices.nodeResources.capacity ?? {}));
    const facts = { node, others: others.map((worker) => worker.pod), allowedUnsafeSysctls, hasAppArmor, pluginResources };
    const problem = admissionProblem(pod, { ...facts, pressure: this.#deps.pressure.value });
    return problem?.shortages === undefined ? problem : this.#preemption.makeRoom(pod, problem.shortages, others);
  }

  #retryResizes(): void {
    for (const worker of sortByResizePriority([...this.#workers.values()])) worker.retryResize();
  }

  async #makeWorkerDeps(): Promise<PodWorkerDeps> {
    const { runtime, clock, parts } = this.#deps;
    const { config, machine, clusterDomain } = this.#options;
    const { nodeIps: hostIps, allocatable } = config;
    const { runtimeName } = await runtime.version();
    const { maxParallelImagePulls, pullRate, maxRestartBackoffMs } = config;
    const images = {
      ...{
        runtime,
        clock,
        kubeletMetrics: this.#deps.kubeletMetrics,
        backoff: new RestartBackoff(clock),
        lastErrors: new Map<string, FailedPull>(),
      },
      pulls: maxParallelImagePulls === undefined ? undefined : new AsyncSemaphore(maxParallelImagePulls),
      pullRate: pullRate && new TokenBucket(clock, pullRate),
      ...(parts && { credentials: parts.credentials, pullRecords: parts.pullRecords }),
    };
    return {
      ...this.#deps,
      ...{ runtimeName, hostIps, signal: this.#signal.signal, hooks: this.#hooks },
      restartBackoff: restartBackoff(clock, maxRestartBackoffMs),
      quarantine: new Quarantine('kubelet', this.#deps),
      ensureImage: imageEnsurer(images),
      configs: new PodConfigs({ ...this.#deps, parts, hostIps, allocatable, clusterDomain, memoryCapacityBytes: machine.memoryBytes }),
      podDir: (uid) => `${parts?.rootDir ?? ''}/pods/${uid}`,
      ...(parts && { terminationMessage: (status) => parts.terminationMessage(status), podResources }),
      ...(parts && { deviceHealth: (pod, container) => parts.deviceHealth(pod, container) }),
      admit: (pod) => this.#admit(pod),
      networkProblem: () => this.#reporter.networkProblem(),
      admitResize: (desired, allocated) => parts?.resources.resizeProblem(desired, allocated) ?? this.#admit(desired),
      onFreed: () => this.#retryResizes(),
      allocate: async (pod) => {
        await this.#preemption.settled(pod);
        return parts?.resources.admit(pod);
      },
      onRemoved: (uid) => {
        this.#workers.delete(uid);
        this.#static?.pods.forget(uid);
        this.#retryResizes();
      },
    };
  }
}
