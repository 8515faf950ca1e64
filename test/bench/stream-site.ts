import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join, resolve } from 'node:path';
import { realClock } from '#base';
import {
  dialUpgrade,
  PROTOCOL_HEADER,
  type RemoteCommand,
  SPDY,
  SPDY_COMMAND_PROTOCOLS,
  spdyCommand,
  WEBSOCKET_COMMAND_PROTOCOLS,
  webSocketCommand,
} from '#client';
import { startSampan, stop, TOKEN } from './server-process.ts';

/** A simulated pod whose kubelet is in the API server's process, or in its own process behind another TLS connection. */
export type KubeletPlace = 'local' | 'remote';

export interface StreamSite extends AsyncDisposable {
  readonly port: number;
  /** All processes that streams pass through. */
  readonly pids: readonly number[];
}

const NODE = 'far';
const WAIT_MS = 30_000;

export async function startStreamSite(directory: string, place: KubeletPlace): Promise<StreamSite> {
  const server = await startSampan(directory, place === 'remote' ? ['--nodes', '0'] : []);
  const kubelet = place === 'remote' ? startKubelet(directory, server.port) : undefined;
  const site: StreamSite = {
    port: server.port,
    pids: kubelet === undefined ? [server.pid] : [server.pid, kubelet.pid as number],
    [Symbol.asyncDispose]: async () => {
      if (kubelet !== undefined) await stop(kubelet);
      await server[Symbol.asyncDispose]();
    },
  };
  await createPod(server.port);
  return site;
}

function startKubelet(directory: string, port: number) {
  const root = join(directory, 'kubelet');
  mkdirSync(root);
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x', contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }] },
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: TOKEN } }],
  };
  const configuration = {
    ...{ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', port: 20_250 + (port % 1000) },
    authentication: { x509: { clientCAFile: join(directory, 'data/pki/ca.crt') } },
    authorization: { mode: 'AlwaysAllow' },
  };
  writeFileSync(join(root, 'kubeconfig'), JSON.stringify(kubeconfig));
  writeFileSync(join(root, 'config.yaml'), JSON.stringify(configuration));
  const args = ['--kubeconfig', join(root, 'kubeconfig'), '--config', join(root, 'config.yaml'), '--root-dir', root];
  const program = [resolve(process.cwd(), 'dist/sampan.js'), 'kubelet', ...args, '--hostname-override', NODE];
  return spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'ignore'] });
}

/** Resolves when the pod runs, and with it everything that it needs. */
async function createPod(port: number): Promise<void> {
  const pod = { metadata: { name: 'load' }, spec: { containers: [{ name: 'c', image: 'load:1' }] } };
  const path = '/api/v1/namespaces/default/pods';
  const until = realClock.monotonic() + WAIT_MS;
  const waitFor = async (attempt: () => Promise<boolean>) => {
    while (!(await attempt())) {
      if (realClock.monotonic() > until) throw new Error('the pod does not run');
      await realClock.sleep(200);
    }
  };
  await waitFor(async () => (await send(port, { path, body: JSON.stringify(pod) })).code === 201);
  await waitFor(async () => (await send(port, { path: `${path}/load` })).body.includes('"phase":"Running"'));
}

function send(port: number, { path, body }: { path: string; body?: string }): Promise<{ code: number; body: string }> {
  return new Promise((done, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, path, headers, method: body === undefined ? 'GET' : 'POST', rejectUnauthorized: false };
    const request = https.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => done({ code: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

const OPTIONS = { stdin: true, stdout: true, stderr: false, tty: false };

/** Runs a command in the pod, like kubectl exec. */
export async function execInPod(port: number, kind: 'websocket' | 'spdy', command: readonly string[]): Promise<RemoteCommand> {
  const words = command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  const url = new URL(`https://127.0.0.1:${port}/api/v1/namespaces/default/pods/load/exec?stdin=true&stdout=true${words}`);
  const offered: Record<string, string> =
    kind === 'spdy'
      ? { upgrade: SPDY, [PROTOCOL_HEADER]: SPDY_COMMAND_PROTOCOLS[1]! }
      : { upgrade: 'websocket', ...KEY, 'sec-websocket-protocol': WEBSOCKET_COMMAND_PROTOCOLS[0]! };
  const headers = { authorization: `Bearer ${TOKEN}`, connection: 'Upgrade', ...offered };
  const method = kind === 'spdy' ? 'POST' : 'GET';
  const { connection } = await dialUpgrade(url, { method, headers, tls: { rejectUnauthorized: false } });
  const protocol = kind === 'spdy' ? SPDY_COMMAND_PROTOCOLS[1]! : WEBSOCKET_COMMAND_PROTOCOLS[0]!;
  return (kind === 'spdy' ? spdyCommand : webSocketCommand)(connection, { ...OPTIONS, protocol, clock: realClock });
}

const KEY = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
