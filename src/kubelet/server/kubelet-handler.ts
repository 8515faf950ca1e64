import type { core } from '#api';
import { type Clock, METRICS_CONTENT_TYPE, type MetricsRegistry } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { findLoggedContainer, LogError, logBytes } from './container-logs.ts';
import { parseLogOptions } from './log-options.ts';

/** A request to the kubelet, however it came: over the network, or from an API server in the same process. */
export interface KubeletCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly signal?: AbortSignal;
}

export interface KubeletAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface KubeletHandlerDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  pods(): readonly core.Pod[];
  /** Why the kubelet is not well; undefined when it is. */
  problem(): string | undefined;
}

/** The kubelet's API. */
export function kubeletHandler(deps: KubeletHandlerDeps): (call: KubeletCall) => Promise<KubeletAnswer> {
  return async (call) => {
    try {
      return await route(call, deps);
    } catch (error) {
      if (error instanceof LogError) return text(error.code, error.message);
      if (error instanceof RangeError) return text(400, error.message);
      return text(500, (error as Error).message);
    }
  };
}

async function route(call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletAnswer> {
  const [, first = '', ...rest] = call.path.split('/').map(decodeURIComponent);
  if (call.method !== 'GET' && call.method !== 'HEAD') return text(405, '405: Method Not Allowed');
  switch (first) {
    case 'healthz':
      return health(deps);
    case 'pods':
      return json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: deps.pods() });
    case 'runningpods':
      return json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: deps.pods().filter(isRunning) });
    case 'metrics':
      return rest.length === 0 ? { ...text(200, deps.metrics.text()), headers: { 'content-type': METRICS_CONTENT_TYPE } } : notFound();
    case 'containerLogs':
      return containerLogs(rest, call, deps);
    default:
      return notFound();
  }
}

function health(deps: KubeletHandlerDeps): KubeletAnswer {
  const problem = deps.problem();
  return problem === undefined ? text(200, 'ok') : text(500, problem);
}

function isRunning({ status }: core.Pod): boolean {
  return (status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
}

async function containerLogs(names: readonly string[], call: KubeletCall, deps: KubeletHandlerDeps): Promise<KubeletAnswer> {
  const [namespace, name, container] = names;
  if (!namespace) throw new LogError(400, '{"message": "Missing podNamespace."}');
  if (!name) throw new LogError(400, '{"message": "Missing podID."}');
  if (!container) throw new LogError(400, '{"message": "Missing container name."}');
  const { runtime, clock } = deps;
  const request = parseLogOptions(call.query, clock.now());
  const pod = deps.pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (pod === undefined) throw new LogError(404, `pod "${name}" does not exist`);
  const found = await findLoggedContainer({ pod, container, runtime }, request.previous);
  return { code: 200, headers: { 'content-type': 'text/plain' }, body: logBytes(found, request, { runtime, signal: call.signal }) };
}

function json(value: object): KubeletAnswer {
  return { ...text(200, JSON.stringify(value)), headers: { 'content-type': 'application/json' } };
}

function notFound(): KubeletAnswer {
  return text(404, '404 page not found');
}

function text(code: number, message: string): KubeletAnswer {
  return { code, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: once(Buffer.from(message)) };
}

async function* once(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  yield chunk;
}
