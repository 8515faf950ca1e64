import type { core } from '#api';
import type { DialTarget, Random } from '#base';
import { StatusError } from '#machinery';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ResourceCall } from '../handlers/resource-call.ts';
import { kubeletPort } from '../kubelet-client/https-kubelet-connector.ts';
import type { KubeletConnector } from '../kubelet-client/kubelet-connector.ts';
import { checkProxyable, proxyableAddress } from './proxyable-address.ts';
import { type ProxyTarget, proxyRequest, withoutBearer } from './reverse-proxy.ts';

export interface ProxyDeps {
  readonly kubelets: KubeletConnector;
}

/** The parsed name in a proxy path: `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. */
export interface ProxiedName {
  readonly scheme: 'http' | 'https' | '';
  readonly name: string;
  readonly port: string;
}

/** Undefined if malformed. */
export function parseProxiedName(text: string): ProxiedName | undefined {
  const parts = text.split(':');
  const [first = '', second = '', third = ''] = parts;
  if (parts.length === 1) return first === '' ? undefined : { scheme: '', name: first, port: '' };
  if (parts.length === 2) return first === '' ? undefined : { scheme: '', name: first, port: second };
  if (parts.length !== 3 || second === '' || (first !== '' && first !== 'http' && first !== 'https')) return undefined;
  return { scheme: first, name: second, port: third };
}

interface ProxyCall {
  readonly call: ResourceCall;
  readonly name: ProxiedName;
  readonly place: ProxiedPath;
  readonly kubelets: KubeletConnector;
}

/** Proxies a request to a pod, a service's endpoint or a node, after existence and admission checks. */
export async function connectProxy(call: ResourceCall, { kubelets }: ProxyDeps): Promise<ApiResponse> {
  const name = parseProxiedName(call.name);
  if (name === undefined) throw StatusError.badRequest(`invalid ${singular(call)} request "${call.name}"`);
  const place = proxiedPath(call);
  const { method } = call.request;
  const isRead = method === 'GET' || method === 'HEAD';
  if (place.path === '' && isRead && call.request.header('upgrade') === undefined) return toRoot(place);
  const proxy: ProxyCall = { call, name, place, kubelets };
  switch (call.resource.resource) {
    case 'pods':
      return proxyRequest(call.request, await podTarget(proxy));
    case 'services':
      return proxyRequest(call.request, await serviceTarget(proxy));
    default:
      return connectNode(proxy);
  }
}

function singular({ resource }: ResourceCall): string {
  return resource.resource.slice(0, -1);
}

export interface ProxiedPath {
  readonly prefix: string;
  /** The path after the prefix: empty, or starting with a slash. Still escaped. */
  readonly path: string;
  /** Including the question mark. */
  readonly search: string;
}

export function proxiedPath({ request }: ResourceCall): ProxiedPath {
  const url = request.url ?? request.path;
  const mark = url.indexOf('?');
  const [path, search] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark)];
  const at = path.indexOf('/proxy');
  const end = /\/proxy(?=\/|$)/.exec(path.slice(at))!.index + at + '/proxy'.length;
  return { prefix: path.slice(0, end), path: path.slice(end), search };
}

/** Redirects to the path with a trailing slash, for relative links. */
function toRoot({ prefix, search }: ProxiedPath): ApiResponse {
  return { type: 'raw', code: 301, contentType: 'text/plain', body: '', headers: { location: `${prefix}/${search}` } };
}

function targetAt(place: ProxiedPath): Pick<ProxyTarget, 'path' | 'pathPrefix'> {
  return { path: `${place.path || '/'}${place.search}`, pathPrefix: place.prefix };
}

async function podTarget({ call, name, place, kubelets }: ProxyCall): Promise<ProxyTarget> {
  const pod = await find<core.Pod>(call, 'pods', name.name);
  const firstPort = pod.spec?.containers?.find(({ ports }) => ports?.length)?.ports?.[0]?.containerPort;
  const port = portOf(name.port === '' ? String(firstPort ?? (name.scheme === 'https' ? 443 : 80)) : name.port);
  const ip = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '';
  checkProxyable(ip);
  return { scheme: name.scheme || 'http', host: ip, port, ...targetAt(place), ...podConnection(pod, { host: ip, port }, kubelets) };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw StatusError.serviceUnavailable(`error trying to reach service: invalid port ${JSON.stringify(text)}`);
  return port;
}

/** Simulated pods are reached through their kubelet. */
function podConnection(pod: core.Pod, address: DialTarget, kubelets: KubeletConnector): Pick<ProxyTarget, 'connect'> {
  const connect = kubelets.dialPod?.(pod, address.port);
  return connect === undefined ? networkConnection(address, kubelets) : { connect };
}

function networkConnection(address: DialTarget, { dialCluster: dial }: KubeletConnector): Pick<ProxyTarget, 'connect'> {
  return dial === undefined ? {} : { connect: () => dial(address) };
}

async function serviceTarget({ call, name, place, kubelets }: ProxyCall): Promise<ProxyTarget> {
  const service = await find<core.Service>(call, 'services', name.name);
  const portName = servicePortName(service, name.port);
  const endpoints = (await call.deps.table.storage('', 'v1', 'endpoints').get(call.namespace, name.name))?.object as unknown as
    | core.Endpoints
    | undefined;
  const none = () => StatusError.serviceUnavailable(`no endpoints available for service "${name.name}"`);
  if (!endpoints?.subsets?.length) throw none();
  for (const { addresses, ports } of call.deps.random.shuffle(endpoints.subsets)) {
    const port = ports?.find((candidate) => (candidate.name ?? '') === portName)?.port;
    if (port === undefined || !addresses?.length) continue;
    const pod = await validPod(call, addresses, call.deps.random);
    if (pod === undefined) continue;
    const common = { scheme: name.scheme || 'http', host: pod.ip, port, ...targetAt(place) } as const;
    return { ...common, ...podConnection(pod.pod, { host: pod.ip, port }, kubelets) };
  }
  throw none();
}

function servicePortName({ spec }: core.Service, text: string): string {
  if (!/^\d+$/.test(text)) return text;
  const port = spec?.ports?.find((candidate) => candidate.port === Number(text));
  if (port === undefined) throw StatusError.serviceUnavailable(`no service port ${text} found for service`);
  return port.name ?? '';
}

/** Endpoints are user input: only addresses of pods in the same namespace are allowed. */
async function validPod(call: ResourceCall, addresses: readonly core.EndpointAddress[], random: Random) {
  for (const { ip, targetRef } of random.shuffle(addresses)) {
    if (targetRef?.kind !== 'Pod' || targetRef.namespace !== call.namespace) continue;
    const stored = await call.deps.table.storage('', 'v1', 'pods').get(call.namespace, targetRef.name ?? '');
    const pod = stored?.object as unknown as core.Pod | undefined;
    const ips = [pod?.status?.podIP, ...(pod?.status?.podIPs ?? []).map((entry) => entry.ip)];
    if (pod !== undefined && ips.includes(ip)) return { pod, ip };
  }
  return undefined;
}

async function connectNode({ call, name, place, kubelets }: ProxyCall): Promise<ApiResponse> {
  const node = await find<core.Node>(call, 'nodes', name.name);
  const isKubelet = name.port === '' || name.port === String(kubeletPort(node));
  if (isKubelet) return connectKubelet({ call, name, place, kubelets }, node);
  const host = await proxyableAddress(kubelets.addressOf(node));
  const address = { host, port: portOf(name.port) };
  return proxyRequest(call.request, {
    scheme: name.scheme || 'http',
    ...address,
    ...targetAt(place),
    ...networkConnection(address, kubelets),
  });
}

async function connectKubelet({ call, place, kubelets }: ProxyCall, node: core.Node): Promise<ApiResponse> {
  const { request } = call;
  if (!kubelets.isLocal(node)) await proxyableAddress(kubelets.addressOf(node));
  const headers: Record<string, string> = {};
  for (const { name, value } of request.headerLines?.('') ?? [])
    if (isPassedToKubelet(name)) headers[name] = name === 'sec-websocket-protocol' ? withoutBearer(value) : value;
  const passed = {
    node,
    method: request.method,
    path: place.path || '/',
    query: new URLSearchParams(place.search),
    headers,
    signal: request.signal,
    ...(request.body.type === 'bytes' && request.method !== 'GET' && request.method !== 'HEAD' && { body: request.body.stream() }),
  };
  const response = await kubelets.upgrade(passed).catch((error: Error) => {
    throw StatusError.serviceUnavailable(`error trying to reach service: ${error.message}`);
  });
  if ('serve' in response) return { type: 'upgrade', ...response };
  // Hop-by-hop headers of the kubelet's connection.
  const { 'transfer-encoding': _, connection: __, 'keep-alive': ___, ...returned } = response.headers;
  return { type: 'stream', code: response.code, contentType: '', body: response.body, headers: returned };
}

const KUBELET_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'content-length', 'connection', 'upgrade', 'user-agent']);

function isPassedToKubelet(name: string): boolean {
  return KUBELET_HEADERS.has(name) || name.startsWith('sec-websocket-') || name.startsWith('x-stream-protocol');
}

async function find<T>({ deps, namespace }: ResourceCall, resource: string, name: string): Promise<T> {
  const stored = await deps.table.storage('', 'v1', resource).get(resource === 'nodes' ? '' : namespace, name);
  if (stored === undefined) throw StatusError.notFound({ group: '', resource }, name);
  return stored.object as unknown as T;
}
