import type { core } from '#api';
import { type Clock, childSignal, type Logger, type OwnedSignal, type Random } from '#base';
import type { Client, EventRecorder } from '#client';
import type { ContainerRuntime } from './cri/runtime.ts';
import { environment } from './environment.ts';
import type { FailedPull } from './images/ensure-image.ts';
import type { NodeConfig } from './node/node-config.ts';
import { NodeLease } from './node/node-lease.ts';
import { NodeReporter, nodeReference } from './node/node-reporter.ts';
import { admissionProblem } from './pod-admission.ts';
import type { NodeFeed } from './pod-source.ts';
import { PodWorker, type PodWorkerDeps } from './pod-worker.ts';
import { askByNetwork } from './probes/network-prober.ts';
import type { RequestLanes } from './request-lanes.ts';
import { RestartBackoff } from './restart-backoff.ts';
import type { SharedTicker } from './shared-ticker.ts';
import type { PodVerdict } from './status/pod-status.ts';

export interface NodeAgentDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly runtime: ContainerRuntime;
  readonly recorder: EventRecorder;
  readonly feed: NodeFeed;
  readonly ticker: SharedTicker;
  readonly lanes?: RequestLanes | undefined;
}

export interface NodeAgentOptions {
  readonly config: NodeConfig;
  readonly registers: boolean;
  /** The node has been at work all along. */
  readonly isContinued: boolean;
  readonly leaseSeconds: number;
  readonly reportMs: number;
}

/** A node at work, from the start of its kubelet until it stops or fails. */
export class NodeAgent {
  readonly #deps: NodeAgentDeps;
  readonly #options: NodeAgentOptions;
  readonly #signal: OwnedSignal;
  readonly #workers = new Map<string, PodWorker>();
  readonly #reporter: NodeReporter;
  readonly #lease: NodeLease;
  readonly #feeds: Disposable[] = [];
  #runtimeEvents: Disposable | undefined;
  #workerDeps: PodWorkerDeps | undefined;

  constructor(options: NodeAgentOptions, deps: NodeAgentDeps, signal: AbortSignal) {
    this.#options = options;
    this.#deps = deps;
    this.#signal = childSignal(signal);
    const own = { ...deps, signal: this.#signal.signal };
    this.#reporter = new NodeReporter(options, own);
    this.#lease = new NodeLease(options.config.nodeName, options.leaseSeconds, { ...own, node: () => this.#reporter.node });
  }

  /** Resolves when the node is registered and looks after its pods. One that begins cut off has those that it is given, and tells nobody. */
  async start(cutOffWith?: readonly core.Pod[]): Promise<void> {
    const { feed, recorder, runtime } = this.#deps;
    const { nodeName } = this.#options.config;
    const { signal } = this.#signal;
    if (!this.#options.isContinued) recorder.normal(nodeReference(nodeName), 'Starting', 'Starting kubelet.');
    await (cutOffWith === undefined ? this.#reporter.start() : this.#adoptNode());
    signal.throwIfAborted();
    this.#lease.start();
    await feed.synced;
    signal.throwIfAborted();
    await this.#usePodCidr(this.#reporter.node);
    this.#workerDeps = await this.#makeWorkerDeps();
    this.#runtimeEvents = runtime.onContainerEvent(({ podUid, type }) => {
      // What began was begun by the worker, which looks again anyway.
      if (type === 'stopped') this.#workers.get(podUid)?.wake();
    });
    // Pods that are there already may still run in a runtime that does not know it.
    await runtime.restore?.(cutOffWith ?? this.#assignedPods());
    signal.throwIfAborted();
    if (cutOffWith === undefined) this.#subscribe();
    else for (const pod of cutOffWith) this.#add(pod);
    await this.#removeStrangers();
  }

  get pods(): readonly core.Pod[] {
    return Array.from(this.#workers.values(), ({ pod, status }) => ({ ...pod, status: { ...pod.status, ...status } }));
  }

  get node(): NodeReporter {
    return this.#reporter;
  }

  /** Resolves when no pod has a step under way. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.idle()));
  }

  /** Looks after nothing any more; containers go on. */
  stop(): void {
    this.#signal.abort(new DOMException('the kubelet was stopped', 'AbortError'));
    this.disconnect();
    this.#runtimeEvents?.[Symbol.dispose]();
    this.#lease.stop();
    this.#reporter.stop();
    for (const worker of this.#workers.values()) worker.stop();
  }

  /** Cut off: nothing is heard of pods and node any more. */
  disconnect(): void {
    for (const subscription of this.#feeds.splice(0)) subscription[Symbol.dispose]();
  }

  /** Connected again: what changed meanwhile is learned, what went away included. */
  reconnect(): void {
    if (this.#feeds.length > 0 || this.#workerDeps === undefined) return;
    const seen = this.#subscribe();
    for (const [uid, worker] of this.#workers) if (!seen.has(uid)) worker.remove();
    this.#reporter.report();
  }

  /** Returns the pods that there are. */
  #subscribe(): ReadonlySet<string> {
    const { feed } = this.#deps;
    const { nodeName } = this.#options.config;
    const seen = new Set<string>();
    this.#feeds.push(
      feed.node(nodeName, { add: (node) => this.#observeNode(node), update: (_, node) => this.#observeNode(node) }),
      feed.pods(nodeName, {
        add: (pod) => {
          seen.add(pod.metadata.uid ?? '');
          this.#update(pod);
        },
        update: (_, pod) => this.#update(pod),
        delete: (pod) => this.#workers.get(pod.metadata.uid ?? '')?.remove(),
      }),
    );
    return seen;
  }

  #assignedPods(): readonly core.Pod[] {
    const pods: core.Pod[] = [];
    this.#deps.feed.pods(this.#options.config.nodeName, { add: (pod) => void pods.push(pod) })[Symbol.dispose]();
    return pods;
  }

  async #adoptNode(): Promise<void> {
    const { feed } = this.#deps;
    await feed.synced;
    const found: core.Node[] = [];
    feed.node(this.#options.config.nodeName, { add: (node) => void found.push(node) })[Symbol.dispose]();
    for (const node of found) await this.#reporter.adopt(node);
  }

  /** Sandboxes of pods that the API no longer knows are left over from before. */
  async #removeStrangers(): Promise<void> {
    const { runtime } = this.#deps;
    for (const { id, config } of await runtime.listPodSandboxes()) {
      if (!this.#workers.has(config.uid)) await runtime.removePodSandbox(id);
    }
  }

  #add(pod: core.Pod): void {
    const uid = pod.metadata.uid ?? '';
    const deps = this.#workerDeps;
    if (deps !== undefined && !this.#workers.has(uid)) this.#workers.set(uid, new PodWorker(pod, deps));
  }

  #update(pod: core.Pod): void {
    const worker = this.#workers.get(pod.metadata.uid ?? '');
    if (worker === undefined) this.#add(pod);
    else worker.update(pod);
  }

  #observeNode(node: core.Node): void {
    this.#reporter.observe(node);
    void this.#usePodCidr(node);
  }

  async #usePodCidr(node: core.Node | undefined): Promise<void> {
    const { podCIDRs, podCIDR } = node?.spec ?? {};
    const cidrs = podCIDRs ?? (podCIDR ? [podCIDR] : []);
    if (cidrs.length === 0) return;
    await this.#deps.runtime.updatePodCidr(cidrs).catch((error: unknown) => {
      this.#deps.logger.warn('the range of addresses for pods was refused', { cidrs, error });
    });
  }

  #admit(pod: core.Pod): PodVerdict | undefined {
    const { node } = this.#reporter;
    if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
    const others = [...this.#workers.values()].filter((worker) => worker.isActive && worker.pod !== pod).map((worker) => worker.pod);
    return admissionProblem(pod, { node, others });
  }

  async #makeWorkerDeps(): Promise<PodWorkerDeps> {
    const { runtime, clock, client } = this.#deps;
    const { nodeIps: hostIps } = this.#options.config;
    const { runtimeName } = await runtime.version();
    return {
      ...this.#deps,
      ...{ runtimeName, hostIps, signal: this.#signal.signal },
      restartBackoff: new RestartBackoff(clock),
      imageBackoff: new RestartBackoff(clock),
      failedPulls: new Map<string, FailedPull>(),
      environment: (pod, container, podIps) => environment({ pod, container, podIps, hostIps, client }),
      admit: (pod) => this.#admit(pod),
      probe: (target, request) => runtime.probe?.(target.containerId, request) ?? askByNetwork(target, request, { runtime, clock }),
      onGone: (uid) => void this.#workers.delete(uid),
    };
  }
}
