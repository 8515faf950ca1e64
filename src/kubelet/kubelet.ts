import type { core } from '#api';
import { type Clock, type Component, type Logger, type MetricsRegistry, type Random, runComponent, whenAborted } from '#base';
import { Client, EventSink } from '#client';
import type { ContainerRuntime } from './cri/runtime.ts';
import { type KubeletConfig, type MachineFailure, nodeConfig } from './node/node-config.ts';
import type { NodePressure } from './node/node-status.ts';
import { NodeAgent } from './node-agent.ts';
import { PartitionGate } from './partition-gate.ts';
import { type NodeFeed, ownNodeFeed } from './pod-source.ts';
import type { RequestLanes } from './request-lanes.ts';
import { type KubeletAnswer, type KubeletCall, kubeletHandler } from './server/kubelet-handler.ts';
import { SharedTicker } from './shared-ticker.ts';

export interface KubeletDeps {
  /** With the node's identity: `system:node:NAME` in the group `system:nodes`. */
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** Watches that many kubelets of one process share. Absent: watches of its own. */
  readonly podSource?: NodeFeed;
  /** Shared by the kubelets of one process, so that they wake up together. Absent: one of its own. */
  readonly ticker?: SharedTicker;
  /** Shared by the kubelets of one process, so that they write in turns. Absent: each writes as it pleases. */
  readonly lanes?: RequestLanes;
}

/** A running kubelet, and the node that it is. */
export interface Kubelet extends Component {
  readonly nodeName: string;
  /** The pods that it looks after, with the status that it reports. */
  readonly pods: readonly core.Pod[];
  readonly runtime: ContainerRuntime;
  /** What has befallen the machine; undefined when it is well. */
  readonly failure: MachineFailure | undefined;
  /** The kubelet's own API, as its server would answer: logs, pods, health, metrics. */
  handle(call: KubeletCall): Promise<KubeletAnswer>;
  /** Resolves when no pod has a step under way. */
  idle(): Promise<void>;
  /** The machine fails: the kubelet and every container are gone at once, and nobody is told. */
  crash(): Promise<void>;
  /** The machine loses its network: containers and kubelet go on, but the API server hears nothing of them, nor they of it. */
  partition(): void;
  /** A crashed machine boots; a cut one is connected again. */
  recover(): Promise<void>;
  /** The kubelet alone stops and starts again, as in an upgrade; containers go on. */
  restart(): Promise<void>;
  /** The machine runs short of something, or has it again. */
  setPressure(pressure: Partial<NodePressure>): void;
}

const LEASE_SECONDS = 40;
const REPORT_MS = 300_000;

export function startKubelet(config: KubeletConfig, deps: KubeletDeps, signal?: AbortSignal): Kubelet {
  const machine = new Machine(config, deps);
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    try {
      await machine.begin(stopping);
      ready();
      await whenAborted(stopping);
    } finally {
      await machine.halt();
    }
  });
  return {
    ...{ ready: component.ready, done: component.done, nodeName: config.nodeName, runtime: deps.runtime },
    get pods() {
      return machine.agent?.pods ?? [];
    },
    get failure() {
      return machine.failure;
    },
    handle: (call) => machine.handle(call),
    idle: async () => machine.agent?.idle(),
    crash: () => machine.crash(),
    partition: () => machine.partition(),
    recover: () => machine.recover(),
    restart: () => machine.restart(),
    setPressure: (pressure) => machine.agent?.node.setPressure(pressure),
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

/** The life of one machine: boots, fails, is cut off, comes back. */
class Machine {
  readonly gate: PartitionGate;
  readonly #handle: (call: KubeletCall) => Promise<KubeletAnswer>;
  readonly #client: Client;
  readonly #ticker: SharedTicker;
  agent: NodeAgent | undefined;
  #isContinued: boolean;
  #stop: AbortController | undefined;
  #closing: (() => Promise<void>) | undefined;
  #stopping: AbortSignal | undefined;

  constructor(
    private readonly config: KubeletConfig,
    private readonly deps: KubeletDeps,
  ) {
    this.#isContinued = config.isContinued ?? false;
    this.gate = new PartitionGate(deps.client.transport);
    this.#client = new Client(this.gate, { fieldManager: 'kubelet' });
    this.#ticker = deps.ticker ?? new SharedTicker(deps.clock);
    this.#handle = kubeletHandler({
      ...deps,
      pods: () => this.agent?.pods ?? [],
      problem: () => (this.agent === undefined ? 'the kubelet is not running' : undefined),
    });
  }

  /** A machine that failed or is cut off cannot be reached. */
  async handle(call: KubeletCall): Promise<KubeletAnswer> {
    if (this.gate.isCut || this.agent === undefined) throw new Error(`node ${this.config.nodeName} cannot be reached`);
    return this.#handle(call);
  }

  get failure(): MachineFailure | undefined {
    if (!this.gate.isCut) return undefined;
    return this.agent === undefined ? { type: 'crashed' } : { type: 'partitioned', pods: this.agent.pods };
  }

  /** As the machine is found: well, cut off, or down until it recovers. */
  async begin(stopping: AbortSignal): Promise<void> {
    const { failure } = this.config;
    if (failure === undefined) return this.boot(stopping);
    this.gate.cut();
    if (failure.type === 'partitioned') return this.boot(stopping, failure.pods);
    this.#stopping = stopping;
    this.#isContinued = false;
    this.deps.runtime.powerOff?.();
  }

  async boot(stopping: AbortSignal, cutOffWith?: readonly core.Pod[]): Promise<void> {
    this.#stopping = stopping;
    const stop = new AbortController();
    this.#stop = stop;
    const onStop = () => stop.abort(stopping.reason);
    stopping.addEventListener('abort', onStop, { once: true });
    if (stopping.aborted) onStop();
    const { clock, random, logger, podSource, runtime, lanes } = this.deps;
    const deps = { client: this.#client, clock, random, logger: logger.child({ node: this.config.nodeName }) };
    const own = podSource === undefined ? ownNodeFeed(this.#client, deps, this.config.nodeName) : undefined;
    own?.start(stop.signal);
    const sink = new EventSink({ ...deps, lane: lanes?.events }, stop.signal);
    const recorder = sink.recorder({ component: 'kubelet', host: this.config.nodeName });
    const feed = podSource ?? (own as NodeFeed);
    const agent = new NodeAgent(this.#options(), { ...deps, runtime, recorder, feed, ticker: this.#ticker, lanes }, stop.signal);
    this.agent = agent;
    this.#isContinued = false;
    this.#closing = async () => {
      stopping.removeEventListener('abort', onStop);
      stop.abort(new DOMException('the kubelet was stopped', 'AbortError'));
      agent.stop();
      await agent.idle();
      await own?.stop();
      await sink.flushed();
    };
    await agent.start(cutOffWith);
  }

  async halt(): Promise<void> {
    const close = this.#closing;
    this.#closing = undefined;
    await close?.();
  }

  partition(): void {
    this.gate.cut();
    this.agent?.disconnect();
  }

  async crash(): Promise<void> {
    this.gate.cut();
    await this.halt();
    this.deps.runtime.powerOff?.();
    this.agent = undefined;
  }

  async recover(): Promise<void> {
    this.gate.mend();
    if (this.agent === undefined && this.#stopping?.aborted === false) await this.boot(this.#stopping);
    else this.agent?.reconnect();
  }

  async restart(): Promise<void> {
    await this.halt();
    this.agent = undefined;
    await this.recover();
  }

  #options() {
    const { registerNode = true, nodeLeaseDurationSeconds = LEASE_SECONDS, nodeStatusReportMs = REPORT_MS } = this.config;
    return {
      config: nodeConfig(this.config),
      registers: registerNode,
      isContinued: this.#isContinued,
      leaseSeconds: nodeLeaseDurationSeconds,
      reportMs: nodeStatusReportMs,
    };
  }
}
