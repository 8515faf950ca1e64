import type { core } from '#api';
import { type Clock, duplexPair } from '#base';
import {
  acceptCommand,
  acceptPortForward,
  type CommandStreamOptions,
  isTunnelRequest,
  joinDuplexes,
  PORT_FORWARD_PROTOCOL,
  PortForwardClient,
  PROTOCOL_HEADER,
  relayCommand,
  SPDY,
  SPDY_COMMAND_PROTOCOLS,
  spdyCommand,
  type Upgrade,
  UpgradeError,
  upgradeOf,
  webSocketTunnel,
} from '#client';
import { StatusError } from '#machinery';
import type { ApiResponse } from '../handlers/api-response.ts';
import type { ResourceCall } from '../handlers/resource-call.ts';
import { containerOf } from '../handlers/subresources/pod-container.ts';
import type { KubeletConnector, KubeletRequest, KubeletResponse } from '../kubelet-client/kubelet-connector.ts';
import { queryFlag } from '../request/query-values.ts';
import { withoutBearer } from './reverse-proxy.ts';

export interface PodConnectionDeps {
  readonly kubelets: KubeletConnector;
  readonly clock: Clock;
  /** The feature gate ExtendWebSocketsToKubelet. */
  readonly extendsWebSockets: boolean;
}

/** Declared by nodes whose kubelet takes WebSockets itself. */
export const WEBSOCKET_FEATURE = 'ExtendWebSocketsToKubelet';

/** The upgrade headers that are forwarded to the kubelet. */
const PASSED_HEADERS = [
  'connection',
  'upgrade',
  PROTOCOL_HEADER,
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
] as const;

/**
 * Proxies exec, attach and port-forward to the kubelet. The connection's bytes are passed through if the kubelet supports the
 * client's protocol; WebSocket clients of other kubelets are translated to SPDY, which every kubelet supports.
 */
export async function connectPod(call: ResourceCall, deps: PodConnectionDeps): Promise<ApiResponse> {
  const target = await kubeletTarget(call);
  const header = (name: string) => call.request.header(name);
  try {
    if (upgradeOf(header) !== 'websocket' || speaksWebSocket(target.node, deps)) return await passOn(call, target, deps);
    return call.subresource === 'portforward' ? await translatePorts(call, target, deps) : await translateCommand(call, target, deps);
  } catch (error) {
    if (error instanceof UpgradeError) return rejection(error);
    throw error;
  }
}

/** As upstream: in-process kubelets do, others if the node declares it. */
function speaksWebSocket(node: core.Node, { kubelets, extendsWebSockets }: PodConnectionDeps): boolean {
  return kubelets.isLocal(node) || (extendsWebSockets && (node.status?.declaredFeatures?.includes(WEBSOCKET_FEATURE) ?? false));
}

function rejection({ code, message, headers }: UpgradeError): ApiResponse {
  return { type: 'raw', code, contentType: 'text/plain; charset=utf-8', body: `${message}\n`, headers };
}

type Target = Pick<KubeletRequest, 'node' | 'path' | 'query' | 'signal'>;

async function kubeletTarget({ namespace, name, subresource, request, resource, deps }: ResourceCall): Promise<Target> {
  const pod = (await resource.storage.get(namespace, name))?.object as unknown as core.Pod | undefined;
  if (pod === undefined) throw StatusError.notFound({ group: '', resource: 'pods' }, name);
  const nodeName = pod.spec?.nodeName ?? '';
  const node = await deps.table.storage('', 'v1', 'nodes').get('', nodeName);
  if (node === undefined) throw StatusError.notFound({ group: '', resource: 'nodes' }, nodeName);
  const common = { node: node.object as unknown as core.Node, signal: request.signal };
  const place = `${namespace}/${name}`;
  if (subresource === 'portforward') return { ...common, path: `/portForward/${place}`, query: portQuery(request.query) };
  const container = containerOf(pod, request.query.get('container') ?? '');
  return { ...common, path: `/${subresource}/${place}/${container}`, query: commandQuery(request.query, subresource === 'exec') };
}

function portQuery(query: URLSearchParams): URLSearchParams {
  const ports = query.getAll('ports').flatMap((value) => value.split(','));
  return new URLSearchParams(ports.map((port): [string, string] => ['port', port]));
}

function commandQuery(query: URLSearchParams, isExec: boolean): URLSearchParams {
  const passed = new URLSearchParams();
  const { stdin, stdout, stderr, tty } = commandOptions(query);
  if (stdin) passed.set('input', '1');
  if (stdout) passed.set('output', '1');
  if (stderr) passed.set('error', '1');
  if (tty) passed.set('tty', '1');
  if (isExec) for (const word of query.getAll('command')) passed.append('command', word);
  return passed;
}

function commandOptions(query: URLSearchParams): CommandStreamOptions {
  const flag = (name: string) => queryFlag(query, name) ?? false;
  const tty = flag('tty');
  // A terminal has no stderr.
  return { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr') && !tty, tty };
}

async function passOn({ request }: ResourceCall, target: Target, { kubelets }: PodConnectionDeps): Promise<ApiResponse> {
  const headers: Record<string, string> = {};
  for (const name of PASSED_HEADERS) {
    const value = request.header(name);
    if (value !== undefined) headers[name] = name === 'sec-websocket-protocol' ? withoutBearer(value) : value;
  }
  const response = await kubelets.upgrade({ ...target, method: request.method, headers });
  return 'serve' in response ? { type: 'upgrade', ...response } : passedResponse(response);
}

/** The kubelet's response without an upgrade. */
function passedResponse({ code, headers, body }: KubeletResponse): ApiResponse {
  const contentType = [headers['content-type'] ?? 'text/plain'].flat()[0]!;
  return { type: 'stream', code, contentType, body };
}

async function translateCommand(call: ResourceCall, target: Target, { kubelets, clock }: PodConnectionDeps): Promise<ApiResponse> {
  const options = commandOptions(call.request.query);
  const response = await kubelets.upgrade({ ...target, method: 'POST', headers: spdyHeaders(SPDY_COMMAND_PROTOCOLS.slice(1).join(', ')) });
  if (!('serve' in response)) return passedResponse(response);
  const protocol = response.headers[PROTOCOL_HEADER] ?? '';
  const left = new AbortController();
  const accepted = acceptCommand((name) => call.request.header(name), {
    ...options,
    clock,
    run: (session) => {
      const command = spdyCommand(connectionOf(response), { ...options, protocol, clock, signal: left.signal });
      return relayCommand(session, command, () => left.abort());
    },
  });
  return { type: 'upgrade', ...accepted };
}

async function translatePorts(call: ResourceCall, target: Target, { kubelets, clock }: PodConnectionDeps): Promise<ApiResponse> {
  const header = (name: string) => call.request.header(name);
  const response = await kubelets.upgrade({ ...target, method: 'POST', headers: spdyHeaders(PORT_FORWARD_PROTOCOL) });
  if (!('serve' in response)) return passedResponse(response);
  const ports = target.query.getAll('port').map(Number);
  if (isTunnelRequest(header)) {
    const { headers } = acceptPortForward(header, { clock, ports, dial: () => Promise.reject(new Error('not dialed here')) });
    return { type: 'upgrade', headers, serve: (connection) => joinDuplexes(webSocketTunnel(connection, 'server'), connectionOf(response)) };
  }
  const client = new PortForwardClient(connectionOf(response), clock);
  const accepted = acceptPortForward(header, { clock, ports, dial: async (port) => client.open(port) });
  return { type: 'upgrade', headers: accepted.headers, serve: (connection) => accepted.serve(connection).finally(() => client.close()) };
}

function spdyHeaders(protocols: string): Readonly<Record<string, string>> {
  return { connection: 'Upgrade', upgrade: SPDY, [PROTOCOL_HEADER]: protocols };
}

/** The kubelet's connection as a duplex. */
function connectionOf(upgrade: Upgrade) {
  const { near, far } = duplexPair();
  void upgrade.serve(far);
  return near;
}
