import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { core } from '#api';
import { type Clock, timeoutSignal } from '#base';
import type { ContainerRuntime, ProbeAnswer, ProbeRequest } from '../cri/runtime.ts';

export interface ProbeTarget {
  readonly containerId: string;
  readonly container: core.Container;
  readonly podIp: string;
}

export interface NetworkProberDeps {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
}

const PASSED: ProbeAnswer = { passed: true, output: '' };

/** Makes a probe as upstream does: a command in the container, a request or a connection to the pod's address. */
export async function askByNetwork(target: ProbeTarget, { probe, timeoutMs }: ProbeRequest, deps: NetworkProberDeps): Promise<ProbeAnswer> {
  using limit = timeoutSignal(deps.clock, timeoutMs);
  if (probe.exec !== undefined) return askByCommand(target.containerId, probe.exec.command ?? [], { ...deps, timeoutMs });
  if (probe.httpGet !== undefined) return askByHttp(probe.httpGet, target, limit.signal);
  if (probe.tcpSocket !== undefined) return askByConnection(probe.tcpSocket, target, limit.signal);
  throw new Error('missing probe handler for the container: only exec, httpGet and tcpSocket are supported');
}

async function askByCommand(id: string, command: readonly string[], { runtime, timeoutMs }: NetworkProberDeps & { timeoutMs: number }) {
  const { exitCode, stdout, stderr } = await runtime.execSync(id, command, timeoutMs);
  return { passed: exitCode === 0, output: stdout + stderr };
}

/** Any status from 200 to 399 passes. Certificates are not checked, and redirects not followed, as upstream has it. */
export async function askByHttp(action: core.HTTPGetAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const { scheme = 'HTTP', host = target.podIp, path = '/', httpHeaders = [] } = action;
  const headers: Record<string, string> = { 'user-agent': 'kube-probe/1.36', accept: '*/*' };
  for (const { name, value } of httpHeaders) headers[name.toLowerCase()] = value;
  const options = { host, port: portOf(action.port, target.container), path: path || '/', headers, signal, agent: false };
  const code = await new Promise<number>((resolve, reject) => {
    const secure = { ...options, rejectUnauthorized: false };
    const sent = scheme === 'HTTPS' ? httpsRequest(secure) : httpRequest(options);
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end();
  });
  return code >= 200 && code < 400 ? PASSED : { passed: false, output: `HTTP probe failed with statuscode: ${code}` };
}

async function askByConnection(action: core.TCPSocketAction, target: ProbeTarget, signal: AbortSignal): Promise<ProbeAnswer> {
  const { host = target.podIp } = action;
  return new Promise((resolve) => {
    const socket = connect({ host, port: portOf(action.port, target.container) });
    const finish = (answer: ProbeAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => finish(PASSED));
    socket.on('error', (error) => finish({ passed: false, output: error.message }));
    signal.addEventListener('abort', () => finish({ passed: false, output: 'i/o timeout' }), { once: true });
  });
}

/** Ports may be named after one of the container's. */
function portOf(port: string | number | undefined, { ports = [] }: core.Container): number {
  if (typeof port === 'number' || /^\d+$/.test(port ?? '')) return Number(port);
  const named = ports.find(({ name }) => name === port);
  if (named === undefined) throw new Error(`couldn't find port: ${JSON.stringify(port)} in the container's ports`);
  return named.containerPort;
}
