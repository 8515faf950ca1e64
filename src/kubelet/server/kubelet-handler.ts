import { mkdir } from 'node:fs/promises';
import type { core } from '#api';
import { type Clock, METRICS_CONTENT_TYPE, type MetricsRegistry } from '#base';
import { flagzResponse, statuszResponse, type ZpageResponse } from '#client';
import type { NodeMonitoring } from '../cadvisor/node-monitoring.ts';
import type { DefaultedConfiguration } from '../configuration/defaults.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { PodUses } from '../eviction/measurements.ts';
import type { ContainerLogs } from '../logs/container-logs.ts';
import { countedMetrics, type KubeletMetrics } from '../metrics/kubelet-metrics.ts';
import { KUBELET_VERSION } from '../node/node-config.ts';
import { containerSpecs } from '../pods/pod-state.ts';
import type { VolumeCount, VolumeUsage } from '../volumes/pod-volumes.ts';
import { findLoggedContainer, logBytes } from './container-logs.ts';
import {
  contentResponse,
  jsonResponse,
  type KubeletCall,
  KubeletError,
  type KubeletResponse,
  notFound,
  textResponse,
} from './kubelet-call.ts';
import { parseLogOptions } from './log-options.ts';
import { attachResponse, execResponse, portForwardResponse, runResponse } from './pod-streams.ts';
import { containerMetrics, resourceMetrics } from './resource-metrics.ts';
import { statsSummary } from './stats-summary.ts';
import { systemLogs } from './system-logs.ts';
import { volumeMetrics } from './volume-stats.ts';

export type { KubeletCall, KubeletResponse } from './kubelet-call.ts';

export interface KubeletHandlerDeps {
  readonly nodeName: string;
  readonly runtime: ContainerRuntime;
  readonly logs: ContainerLogs;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  /** The kubelet's own metrics. Absent: none. */
  readonly kubeletMetrics?: KubeletMetrics | undefined;
  /** The configuration in force, as `/configz` shows it. */
  configuration(): DefaultedConfiguration;
  /** The flags it was started with, as `/flagz` shows them. Absent: none. */
  readonly flags?: ReadonlyMap<string, string> | undefined;
  readonly startedMs: number;
  /** The kubelet's directory, for checkpoints. Undefined: none. */
  rootDir?(): string | undefined;
  /** The machine's logs, `/var/log`. Undefined: it has none, for it is simulated or does not run. */
  systemLogsDir?(): string | undefined;
  pods(): readonly core.Pod[];
  /** The usage of a pod's volumes. Absent: not measured. */
  volumeUsage?(podUid: string): Promise<readonly VolumeUsage[]>;
  volumeCounts?(): readonly VolumeCount[];
  /** Undefined: the node is simulated, or not running. */
  monitoring?(): NodeMonitoring | undefined;
  /** The usage of logs, layers and local volumes by pod. */
  podUses?(pods: readonly core.Pod[]): Promise<PodUses>;
  /** Why the kubelet is unhealthy; undefined when it is healthy. */
  problem(): string | undefined;
}

type Route = (rest: readonly string[], call: KubeletCall, deps: KubeletHandlerDeps) => Promise<KubeletResponse> | KubeletResponse;

const NAME = 'kubelet';
const READ: readonly string[] = ['GET', 'HEAD'];
const STREAM: readonly string[] = ['GET', 'POST'];

/** By the first path segment, with the allowed methods. */
const ROUTES: ReadonlyMap<string, { readonly methods: readonly string[]; readonly answer: Route }> = new Map(
  Object.entries({
    healthz: { methods: READ, answer: health },
    pods: { methods: READ, answer: (_, __, deps) => podList(deps.pods()) },
    runningpods: { methods: READ, answer: (_, __, deps) => podList(deps.pods().filter(isRunning)) },
    metrics: { methods: READ, answer: metricsResponse },
    stats: { methods: READ, answer: stats },
    configz: { methods: READ, answer: (_, __, deps) => jsonResponse({ kubeletconfig: masked(deps.configuration()) }) },
    containerLogs: { methods: READ, answer: containerLogs },
    exec: { methods: STREAM, answer: execResponse },
    attach: { methods: STREAM, answer: attachResponse },
    portForward: { methods: STREAM, answer: portForwardResponse },
    run: { methods: ['POST'], answer: runResponse },
    checkpoint: { methods: ['POST'], answer: checkpoint },
    logs: { methods: READ, answer: machineLogs },
    flagz: { methods: READ, answer: flagz },
    statusz: { methods: READ, answer: statusz },
  } satisfies Record<string, { methods: readonly string[]; answer: Route }>),
);

/** Disabled by `enableDebuggingHandlers: false`. */
const DEBUGGING: ReadonlySet<string> = new Set(['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'logs']);

/** Headers may contain credentials. */
function masked(config: DefaultedConfiguration): DefaultedConfiguration {
  if (config.staticPodURLHeader === undefined) return config;
  const names = Object.keys(config.staticPodURLHeader);
  return { ...config, staticPodURLHeader: Object.fromEntries(names.map((name) => [name, ['<masked>']])) };
}

/** The kubelet's API. */
export function kubeletHandler(deps: KubeletHandlerDeps): (call: KubeletCall) => Promise<KubeletResponse> {
  return async (call) => {
    try {
      return await route(call, deps);
    } catch (error) {
      if (error instanceof KubeletError) return textResponse(error.code, error.message);
      if (error instanceof RangeError) return textResponse(400, error.message);
      return textResponse(500, (error as Error).message);
    }
  };
}

function route(call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletResponse> | KubeletResponse {
  const [, first = '', ...rest] = call.path.split('/').map(decodeSegment);
  const route = ROUTES.get(first);
  if (route === undefined) return notFound();
  if (DEBUGGING.has(first) && !deps.configuration().enableDebuggingHandlers) return textResponse(405, 'Debug endpoints are disabled.');
  if (!route.methods.includes(call.method)) return textResponse(405, '405: Method Not Allowed');
  return route.answer(rest, call, deps);
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new KubeletError(400, `malformed escape in "${text}"`);
  }
}

function health(rest: readonly string[], _call: KubeletCall, deps: KubeletHandlerDeps): KubeletResponse {
  if (rest.length > 1 || (rest.length === 1 && !['', 'ping', 'log', 'syncloop'].includes(rest[0]!))) return notFound();
  const problem = deps.problem();
  return problem === undefined ? textResponse(200, 'ok') : textResponse(500, problem);
}

function podList(items: readonly core.Pod[]): KubeletResponse {
  return jsonResponse({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });
}

function isRunning({ status }: core.Pod): boolean {
  return (status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
}

async function metricsResponse(
  [part = '', ...further]: readonly string[],
  _call: KubeletCall,
  deps: KubeletHandlerDeps,
): Promise<KubeletResponse> {
  const text = async () => {
    if (further.length > 0) return undefined;
    if (part === '') return ownMetrics(deps);
    if (part === 'resource') return resourceMetrics(deps);
    if (part === 'cadvisor') return containerMetrics(deps);
    return part === 'probes' ? (deps.kubeletMetrics?.probes.text() ?? '') : undefined;
  };
  const body = await text();
  return body === undefined ? notFound() : contentResponse(200, METRICS_CONTENT_TYPE, body);
}

async function ownMetrics(deps: KubeletHandlerDeps): Promise<string> {
  const { metrics, kubeletMetrics, runtime } = deps;
  const volumes = await volumeMetrics(deps);
  if (kubeletMetrics === undefined) return metrics.text() + volumes;
  return metrics.text() + kubeletMetrics.registry.text() + (await countedMetrics(runtime, deps.pods())) + volumes;
}

async function stats([part = '', ...further]: readonly string[], _call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletResponse> {
  return part === 'summary' && further.length === 0 ? jsonResponse(await statsSummary(deps)) : notFound();
}

async function containerLogs(names: readonly string[], call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletResponse> {
  const [namespace, name, container] = names;
  if (!namespace) throw new KubeletError(400, '{"message": "Missing podNamespace."}');
  if (!name) throw new KubeletError(400, '{"message": "Missing podID."}');
  if (!container) throw new KubeletError(400, '{"message": "Missing container name."}');
  const { runtime, clock, logs } = deps;
  const request = parseLogOptions(call.query, clock.now());
  const pod = deps.pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (pod === undefined) throw new KubeletError(404, `pod "${name}" does not exist`);
  const logged = await findLoggedContainer({ pod, container, runtime }, request.previous);
  return { code: 200, headers: { 'content-type': 'text/plain' }, body: logBytes(logged, request, { logs, signal: call.signal }) };
}

function machineLogs(names: readonly string[], call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletResponse> | KubeletResponse {
  const { enableSystemLogHandler, enableSystemLogQuery = false } = deps.configuration();
  if (!enableSystemLogHandler) return textResponse(405, 'logs endpoint is disabled.');
  const directory = deps.systemLogsDir?.();
  return directory === undefined ? notFound() : systemLogs(names, call, { directory, allowsQueries: enableSystemLogQuery });
}

function flagz(rest: readonly string[], { headers }: KubeletCall, { flags = new Map() }: KubeletHandlerDeps): KubeletResponse {
  return rest.length > 0 ? notFound() : pageResponse(flagzResponse(NAME, flags, headers?.accept));
}

function statusz(rest: readonly string[], { headers }: KubeletCall, { startedMs, clock }: KubeletHandlerDeps): KubeletResponse {
  const paths = [...ROUTES.keys()].map((path) => `/${path}`);
  const facts = { name: NAME, version: KUBELET_VERSION, startedMs, nowMs: clock.now(), paths };
  return rest.length > 0 ? notFound() : pageResponse(statuszResponse(facts, headers?.accept));
}

function pageResponse({ code, headers, body }: ZpageResponse): KubeletResponse {
  return { ...textResponse(code, body), headers };
}

async function checkpoint(names: readonly string[], call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletResponse> {
  const [namespace, name, container = ''] = names;
  const pod = deps.pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (pod === undefined) throw new KubeletError(404, 'pod does not exist');
  if (!containerSpecs(pod).some((spec) => spec.name === container)) throw new KubeletError(404, `container ${container} does not exist`);
  const timeoutSeconds = Number(call.query.getAll('timeout').at(-1) ?? 0);
  if (!Number.isInteger(timeoutSeconds)) throw new KubeletError(404, 'cannot parse value of timeout parameter');
  const rootDir = deps.rootDir?.();
  const directory = `${rootDir ?? ''}/checkpoints`;
  const location = `${directory}/checkpoint-${name}_${namespace}-${container}-${new Date(deps.clock.now()).toISOString()}.tar`;
  try {
    const { id } = await findLoggedContainer({ pod, container, runtime: deps.runtime }, false);
    if (rootDir !== undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
    await deps.runtime.checkpointContainer(id, { location, timeoutMs: timeoutSeconds * 1000 });
  } catch (error) {
    throw new KubeletError(500, `checkpointing of ${namespace}/${name}/${container} failed (${(error as Error).message})`);
  }
  return jsonResponse({ items: [location] });
}
