import type { core } from '#api';
import { type Component, raceAbort, runComponent, waitForAbort } from '#base';
import { Client } from '#client';
import { type Kubelet, type KubeletDeps, startKubelet } from '../../kubelet.ts';
import type { ContainerLogs, LogEntry } from '../../logs/container-logs.ts';
import type { KubeletConfig } from '../../node/node-config.ts';
import { type NodePressure, PressureState } from '../../node/node-pressure.ts';
import { type NodeFeed, ownNodeFeed } from '../../pods/pod-source.ts';
import type { Prober } from '../../prober/prober.ts';
import type { KubeletCall, KubeletResponse } from '../../server/kubelet-handler.ts';
import { NodeFeedGate } from './node-feed-gate.ts';
import { PartitionGate } from './partition-gate.ts';
import { simulatedMachine } from './simulated-machine.ts';
import { SimulatedMeasurements, type SimulatedUsage } from './simulated-measurements.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';
import { simulatedVolumesHook } from './simulated-volumes.ts';

export interface SimulatedKubeletConfig extends KubeletConfig {
  /** The initial failure, which lasts until recovery. Default: none. */
  readonly failure?: MachineFailure;
}

export type MachineFailure =
  | { readonly type: 'crashed' }
  /** With the pods that it continues to run. */
  | { readonly type: 'partitioned'; readonly pods: readonly core.Pod[] };

export interface SimulatedKubeletDeps extends Omit<KubeletDeps, 'runtime' | 'machine' | 'prober' | 'logs' | 'pressure' | 'measurements'> {
  readonly runtime: SimulatedRuntime;
}

/** A kubelet on a simulated machine that can fail. */
export interface SimulatedKubelet extends Kubelet, Component {
  readonly runtime: SimulatedRuntime;
  /** The current failure; undefined when the machine is healthy. */
  readonly failure: MachineFailure | undefined;
  /** Machine crash: the kubelet and all containers are gone at once, without events. */
  crash(): Promise<void>;
  /** Network partition: containers and kubelet keep running, but cannot reach the API server. */
  partition(): void;
  /** Boots a crashed machine; reconnects a partitioned one. */
  recover(): Promise<void>;
  /** Restarts only the kubelet, as in an upgrade; containers keep running. */
  restart(): Promise<void>;
  /** Sets or clears resource pressure. */
  setPressure(pressure: Partial<NodePressure>): void;
  /** Sets the available resources and the usage of pods: from now on the node evicts like a real one. */
  setUsage(usage: SimulatedUsage | (() => SimulatedUsage)): void;
}

/** Starts a kubelet on a simulated machine, with failure injection. */
export function startSimulatedKubelet(config: SimulatedKubeletConfig, deps: SimulatedKubeletDeps, signal?: AbortSignal): SimulatedKubelet {
  const machine = new SimulatedMachine(config, deps);
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    try {
      await machine.begin(stopping);
      ready();
      await waitForAbort(stopping);
    } finally {
      await machine.halt();
      // Containers would otherwise keep the process alive; the next start restores them from pod statuses.
      if (stopping.aborted) deps.runtime.powerOff();
    }
  });
  return {
    ...{ ready: component.ready, done: component.done, nodeName: config.nodeName, runtime: deps.runtime },
    get pods() {
      return machine.kubelet?.pods ?? [];
    },
    get failure() {
      return machine.failure;
    },
    handle: (call) => machine.handle(call),
    idle: async () => machine.kubelet?.idle(),
    crash: () => machine.crash(),
    partition: () => machine.partition(),
    recover: () => machine.recover(),
    restart: () => machine.restart(),
    setPressure: (pressure) => machine.pressure.set(pressure),
    setUsage: (usage) => machine.measurements.set(usage),
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

/** The lifecycle of one machine: boots, crashes, partitions, recoveries. */
class SimulatedMachine {
  readonly pressure = new PressureState();
  readonly measurements = new SimulatedMeasurements();
  readonly #gate: PartitionGate;
  readonly #client: Client;
  kubelet: Kubelet | undefined;
  #running: Kubelet | undefined;
  #feed: NodeFeedGate | undefined;
  #isContinued: boolean;
  #closing: (() => Promise<void>) | undefined;
  #stopping: AbortSignal | undefined;

  constructor(
    private readonly config: SimulatedKubeletConfig,
    private readonly deps: SimulatedKubeletDeps,
  ) {
    this.#isContinued = config.isContinued ?? false;
    this.#gate = new PartitionGate(deps.client.transport);
    this.#client = new Client(this.#gate, { fieldManager: 'kubelet' });
  }

  /** A crashed or partitioned machine is unreachable. */
  async handle(call: KubeletCall): Promise<KubeletResponse> {
    if (this.#gate.isCut || this.kubelet === undefined) throw new Error(`node ${this.config.nodeName} cannot be reached`);
    return this.kubelet.handle(call);
  }

  get failure(): MachineFailure | undefined {
    if (!this.#gate.isCut) return undefined;
    return this.kubelet === undefined ? { type: 'crashed' } : { type: 'partitioned', pods: this.kubelet.pods };
  }

  /** Starts in the given state: healthy, partitioned, or down until recovery. */
  async begin(stopping: AbortSignal): Promise<void> {
    const { failure } = this.config;
    this.#stopping = stopping;
    if (failure?.type === 'crashed') {
      this.#gate.cut();
      this.#isContinued = false;
      this.deps.runtime.powerOff();
      return;
    }
    if (failure?.type === 'partitioned') this.#gate.cut();
    await this.#boot(stopping, failure?.pods);
  }

  async halt(): Promise<void> {
    const close = this.#closing;
    this.#closing = undefined;
    this.kubelet = undefined;
    await close?.();
  }

  partition(): void {
    this.#gate.cut();
    this.#feed?.cut();
  }

  async crash(): Promise<void> {
    this.#gate.cut();
    await this.halt();
    this.deps.runtime.powerOff();
  }

  async recover(): Promise<void> {
    this.#gate.mend();
    if (this.kubelet === undefined && this.#stopping?.aborted === false) await this.#boot(this.#stopping);
    else this.#feed?.mend();
  }

  async restart(): Promise<void> {
    await this.halt();
    await this.recover();
  }

  async #boot(stopping: AbortSignal, cutOffWith?: readonly core.Pod[]): Promise<void> {
    const { clock, random, logger, podSource, runtime } = this.deps;
    const { nodeName } = this.config;
    const own = podSource === undefined ? ownNodeFeed(this.#client, { clock, random, logger }, nodeName) : undefined;
    own?.start(stopping);
    const feed = new NodeFeedGate(podSource ?? (own as NodeFeed), cutOffWith);
    if (this.#gate.isCut) feed.cut();
    this.#feed = feed;
    this.#closing = async () => {
      await this.#stopKubelet();
      await own?.stop();
    };
    await feed.synced;
    stopping.throwIfAborted();
    // Existing pods may have been running before: the runtime restores them.
    await runtime.restore(podsOf(feed, nodeName));
    await this.#startKubelet(feed, stopping);
  }

  async #startKubelet(podSource: NodeFeed, stopping: AbortSignal): Promise<void> {
    const { runtime } = this.deps;
    const { nodeName } = this.config;
    const config = { ...this.config, isContinued: this.#isContinued || this.#gate.isCut };
    const simulated = { machine: simulatedMachine(nodeName), prober: simulatedProber(runtime), logs: simulatedLogs(runtime) };
    const { clock } = this.deps;
    const kubelet = startKubelet(config, {
      ...this.deps,
      ...simulated,
      hooks: [simulatedVolumesHook({ client: this.#client, clock, nodeName }), ...(this.deps.hooks ?? [])],
      client: this.#client,
      podSource,
      pressure: this.pressure,
      measurements: this.measurements,
    });
    this.#isContinued = false;
    this.#running = kubelet;
    this.kubelet = kubelet;
    // A node that never becomes ready can still be stopped.
    await raceAbort(kubelet.ready, stopping);
  }

  async #stopKubelet(): Promise<void> {
    const kubelet = this.#running;
    this.#running = undefined;
    await kubelet?.[Symbol.asyncDispose]();
  }
}

function podsOf(feed: NodeFeed, nodeName: string): readonly core.Pod[] {
  const pods: core.Pod[] = [];
  feed.pods(nodeName, { add: (pod) => void pods.push(pod) })[Symbol.dispose]();
  return pods;
}

/** Without a network, probes are answered by the script, and hooks are not executed. */
function simulatedProber(runtime: SimulatedRuntime): Prober {
  return {
    probe: async ({ containerId }, request) => runtime.probe(containerId, request),
    httpGet: async () => ({}),
  };
}

function simulatedLogs(runtime: SimulatedRuntime): ContainerLogs {
  return {
    async *read({ id }, { follow = false, tailLines, signal } = {}) {
      let seenMs = -Infinity;
      if (tailLines !== undefined) {
        const tail: LogEntry[] = [];
        for await (const entry of runtime.containerLog(id)) {
          seenMs = entry.timeMs;
          tail.push(entry);
          if (tail.length > tailLines) tail.shift();
        }
        yield* tail;
        if (!follow) return;
      }
      for await (const entry of runtime.containerLog(id, { follow, signal })) if (entry.timeMs > seenMs) yield entry;
    },
  };
}
