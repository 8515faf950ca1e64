import type { core } from '#api';
import { type Clock, type Component, childSignal, type Logger, type MetricsRegistry, type Random, runComponent, waitForAbort } from '#base';
import { Client, EventSink } from '#client';
import { withDefaults } from './configuration/defaults.ts';
import { settingsOf } from './configuration/kubelet-settings.ts';
import type { ContainerRuntime } from './cri/runtime.ts';
import type { NodeMeasurements } from './eviction/measurements.ts';
import type { ContainerLogs } from './logs/container-logs.ts';
import type { KubeletMetrics } from './metrics/kubelet-metrics.ts';
import type { MachineInfoSource } from './node/machine-info.ts';
import { DEFAULT_CLUSTER_DOMAIN, type KubeletConfig, nodeConfig } from './node/node-config.ts';
import type { NodeParts, OpenNodeParts } from './node/node-parts.ts';
import { PressureState } from './node/node-pressure.ts';
import { NodeAgent } from './node-agent.ts';
import type { PodHook } from './pods/hooks/pod-hook.ts';
import { type NodeFeed, ownNodeFeed } from './pods/pod-source.ts';
import type { Prober } from './prober/prober.ts';
import type { RequestLimits } from './request-limits.ts';
import { type KubeletCall, type KubeletResponse, kubeletHandler } from './server/kubelet-handler.ts';
import { VolumeUsageCache } from './server/volume-usage-cache.ts';
import { SharedTicker } from './shared-ticker.ts';
import type { KubeletTracing } from './tracing/kubelet-tracing.ts';

export interface KubeletDeps {
  /** With the node's identity: `system:node:NAME` in the group `system:nodes`. */
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly machine: MachineInfoSource;
  readonly prober: Prober;
  readonly logs: ContainerLogs;
  /** What a real machine adds to its pods: files, cgroups, volumes, DNS. Absent: nothing. */
  readonly openParts?: OpenNodeParts;
  /** Pod hooks of nodes without such parts. */
  readonly hooks?: readonly PodHook[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The node's resource pressure. Absent: none until it is measured. */
  readonly pressure?: PressureState;
  /** Replaces the measurements of the real machine. */
  readonly measurements?: NodeMeasurements;
  /** Watches shared by the kubelets of one process. Absent: its own. */
  readonly podSource?: NodeFeed;
  /** Shared by the kubelets of one process, so that their timers coincide. Absent: its own. */
  readonly ticker?: SharedTicker;
  /** Shared by the kubelets of one process to limit concurrent writes. Absent: unlimited. */
  readonly requestLimits?: RequestLimits;
  /** Absent: no metrics. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: KubeletTracing | undefined;
}

/** A running kubelet. */
export interface Kubelet extends Component {
  readonly nodeName: string;
  /** The pods of the node with the status that it reports. */
  readonly pods: readonly core.Pod[];
  /** The kubelet's API, as its server responds: logs, pods, health, metrics. */
  handle(call: KubeletCall): Promise<KubeletResponse>;
  /** Resolves when no pod worker is busy. */
  idle(): Promise<void>;
}

const LEASE_SECONDS = 40;
const SYSTEM_LOGS = '/var/log';
const REPORT_MS = 300_000;

/** Runs the pods of one node. When it stops, containers keep running. */
export function startKubelet(config: KubeletConfig, deps: KubeletDeps, signal?: AbortSignal): Kubelet {
  const settings = { ...config, ...settingsOf(config.configuration ?? {}) };
  let agent: NodeAgent | undefined;
  let parts: NodeParts | undefined;
  const usages = new VolumeUsageCache(settings.volumeStatsMs ?? 0, {
    ...deps,
    measure: async (uid) => (await parts?.volumeUsage(uid)) ?? [],
  });
  const handle = kubeletHandler({
    ...deps,
    nodeName: config.nodeName,
    flags: config.flags,
    startedMs: deps.clock.now(),
    configuration: () => withDefaults(config.configuration ?? {}),
    pods: () => agent?.pods ?? [],
    volumeUsage: (podUid) => usages.of(podUid),
    volumeCounts: () => parts?.volumeCounts() ?? [],
    rootDir: () => parts?.rootDir,
    systemLogsDir: () => parts && SYSTEM_LOGS,
    monitoring: () => parts?.monitoring,
    podUses: async (pods) => (await parts?.measurements.podUses(pods)) ?? new Map(),
    problem: () => (agent === undefined ? 'the kubelet is not running' : undefined),
  });
  const handleCall = (call: KubeletCall) => deps.tracing?.request(call, handle) ?? handle(call);
  const component = runComponent(signal, async ({ signal: stopping, ready }) => {
    await using node = await openNode(settings, deps, stopping);
    agent = node.agent;
    parts = node.parts;
    try {
      await agent.start();
      ready();
      await waitForAbort(stopping);
    } finally {
      agent = undefined;
      parts = undefined;
    }
  });
  return {
    ...{ ready: component.ready, done: component.done, nodeName: config.nodeName, handle: handleCall },
    get pods() {
      return agent?.pods ?? [];
    },
    idle: async () => agent?.idle(),
    [Symbol.asyncDispose]: () => component[Symbol.asyncDispose](),
  };
}

/** The node with its watches and events; disposing it closes all of them. */
async function openNode(config: KubeletConfig, deps: KubeletDeps, stopping: AbortSignal) {
  const stop = childSignal(stopping);
  const logger = deps.logger.child({ node: config.nodeName });
  const client = new Client(deps.client.transport, { fieldManager: 'kubelet' });
  const options = await agentOptions(config, deps);
  const own = deps.podSource === undefined ? ownNodeFeed(client, { ...deps, logger }, config.nodeName) : undefined;
  own?.start(stop.signal);
  const sink = new EventSink({ ...deps, client, logger, lane: deps.requestLimits?.events, rate: config.eventRate }, stop.signal);
  const recorder = sink.recorder({ component: 'kubelet', host: config.nodeName });
  const parts = await deps.openParts?.({ ...options, memoryBytes: options.machine.memoryBytes, client, recorder, signal: stop.signal });
  const shared = { ticker: deps.ticker ?? new SharedTicker(deps.clock), pressure: deps.pressure ?? new PressureState() };
  const feed = deps.podSource ?? (own as NodeFeed);
  const agent = new NodeAgent(options, { ...deps, ...shared, client, logger, feed, recorder, parts }, stop.signal);
  return {
    agent,
    parts,
    async [Symbol.asyncDispose]() {
      stop.abort(new DOMException('the kubelet was stopped', 'AbortError'));
      agent.stop();
      await agent.idle();
      await parts?.[Symbol.asyncDispose]();
      await own?.stop();
      await sink.flushed();
    },
  };
}

async function agentOptions(config: KubeletConfig, { machine }: KubeletDeps) {
  const { registerNode = true, nodeLeaseDurationSeconds = LEASE_SECONDS, nodeStatusReportMs = REPORT_MS, nodeStatusUpdateMs } = config;
  const info = await machine.read();
  return {
    config: nodeConfig(config, info),
    configuration: config.configuration ?? {},
    housekeeping: { ...config },
    machine: info,
    registers: registerNode,
    isContinued: config.isContinued ?? false,
    leaseSeconds: nodeLeaseDurationSeconds,
    reportMs: nodeStatusReportMs,
    updateMs: nodeStatusUpdateMs,
    clusterDns: config.clusterDns ?? [],
    clusterDomain: config.clusterDomain ?? DEFAULT_CLUSTER_DOMAIN,
  };
}
