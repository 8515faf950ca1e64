import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newWebSocketKey, WebSocketConnection } from '#base';
import { freePort } from '../../src/store/contract/free-port.ts';
import { Workplace } from './sampan-process.ts';

/** Old kubectl supports SPDY only; new kubectl uses it when configured to. */
const OLD_KUBECTL = process.env.OLD_KUBECTL ?? '';
const SPDY = ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false', 'KUBECTL_PORT_FORWARD_WEBSOCKETS=false'];
const KUBECTLS = [
  { name: 'kubectl over WebSocket', command: ['kubectl'] },
  { name: 'kubectl over SPDY', command: [...SPDY, 'kubectl'] },
  ...(existsSync(OLD_KUBECTL) ? [{ name: 'kubectl 1.20', command: [OLD_KUBECTL] }] : []),
];

let at: Workplace;
beforeAll(async () => {
  at = new Workplace();
  const { code, stderr } = await at.sampan('up', '--runtime', 'simulated', '-d', '--port', String(await freePort()));
  expect(code, stderr).toBe(0);
  await at.kubectl('run', 'web', '--image=web:1', '--port=80');
  await at.kubectl('expose', 'pod', 'web', '--port=80');
  await at.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=20s');
});

afterAll(async () => {
  await at.sampan('delete', '--yes');
  await at[Symbol.asyncDispose]();
});

describe.each(KUBECTLS)('$name', ({ command }) => {
  const run = (args: readonly string[], input?: string) => at.run('env', [...command, ...args], input);

  test('runs a command and ends with its exit code', async () => {
    const { code, stdout, stderr } = await run(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect([code, stdout, stderr]).toEqual([7, 'out\n', 'err\ncommand terminated with exit code 7\n']);
  });

  test('gives a command its input to the end', async () => {
    expect((await run(['exec', '-i', 'web', '--', 'cat'], 'line 1\nline 2\n')).stdout).toBe('line 1\nline 2\n');
  });

  test('runs a pod with its input until that ends', async () => {
    const args = ['run', '-i', 'piped', '--image=busybox:1', '--restart=Never', '--rm', '--', 'sh'];
    const { code, stdout } = await run(args, 'echo first\nhostname\nexit 3\n');
    expect([code, stdout]).toEqual([3, 'first\npiped\npod "piped" deleted\n']);
  });

  test('copies a file in and out unchanged', async () => {
    const bytes = randomBytes(2 << 20);
    writeFileSync(at.path('in.bin'), bytes);
    expect((await run(['cp', 'in.bin', 'web:/tmp/in.bin'])).code).toBe(0);
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect((await run(['exec', 'web', '--', 'sha256sum', '/tmp/in.bin'])).stdout).toBe(`${digest}  /tmp/in.bin\n`);
    expect((await run(['cp', 'web:/tmp/in.bin', 'out.bin'])).code).toBe(0);
    expect(readFileSync(at.path('out.bin')).equals(bytes)).toBe(true);
  });

  test('forwards a port for HTTP', async () => {
    const port = await freePort();
    const name = `forward-${port}`;
    at.start(name, 'env', [...command, 'port-forward', 'pod/web', `${port}:80`]);
    await expect.poll(() => at.log(name), { timeout: 20_000 }).toContain('Forwarding from');
    const response = await fetch(`http://127.0.0.1:${port}/hello`, { headers: { connection: 'close' } });
    expect(await response.json()).toMatchObject({ pod: 'web', port: 80, method: 'GET', url: '/hello' });
  });
});

test('kubectl debug adds a container to a pod, which can be entered', async () => {
  const { code, stderr } = await at.run('kubectl', ['debug', 'web', '--image=tools:1', '-c', 'tools', '--', 'sleep', '1000']);
  expect(code, stderr).toBe(0);
  const state = 'jsonpath={.status.ephemeralContainerStatuses[0].state.running.startedAt}';
  await expect.poll(() => at.kubectl('get', 'pod', 'web', '-o', state), { timeout: 20_000 }).not.toBe('');
  expect(await at.kubectl('exec', 'web', '-c', 'tools', '--', 'echo', 'inside')).toBe('inside');
});

test('kubectl debug with input from a pipe returns when that has ended', async () => {
  const { code } = await at.run('kubectl', ['debug', '-i', 'web', '--image=tools:1', '-c', 'piped', '--', 'cat'], 'one\n');
  expect(code).toBe(0);
});

describe('the proxy', () => {
  const root = '/api/v1/namespaces/default';

  test.each([
    ['a pod', `${root}/pods/web/proxy/a`],
    ['a pod by its port', `${root}/pods/web:80/proxy/a`],
    ['a service', `${root}/services/web/proxy/a`],
    ['a service by its port', `${root}/services/http:web:80/proxy/a`],
  ])('reaches %s', async (_, path) => {
    await expect.poll(() => at.kubectl('get', '--raw', path).catch(() => '{}'), { timeout: 10_000 }).toContain('"url":"/a"');
  });

  test('rewrites the links of pages', async () => {
    expect(await at.kubectl('get', '--raw', `${root}/pods/web/proxy/page`)).toBe(`<a href="${root}/pods/web/proxy/elsewhere">here</a>`);
  });

  test('reaches the kubelet of a node', async () => {
    const node = await at.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}');
    expect(await at.kubectl('get', '--raw', `/api/v1/nodes/${node}/proxy/healthz`)).toBe('ok');
    expect(await at.kubectl('get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`)).toContain('"podRef":{"name":"web"');
  });
});

test('a log is followed, and a container is attached to', async () => {
  at.start('logs', 'kubectl', ['logs', '-f', 'web']);
  at.start('attach', 'kubectl', ['attach', 'web']);
  for (const name of ['logs', 'attach']) await expect.poll(() => at.log(name), { timeout: 20_000 }).toContain('simulated container web');
});

/** The WebSocket messages of a server until it closes the connection. */
async function webSocketMessages(url: string, protocol: string): Promise<readonly Buffer[]> {
  const handshake = { 'sec-websocket-key': newWebSocketKey(), 'sec-websocket-version': '13', 'sec-websocket-protocol': protocol };
  const sent = request(url, { headers: { connection: 'Upgrade', upgrade: 'websocket', ...handshake } });
  sent.end();
  const [response, socket, head] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket, Buffer];
  expect(response.headers['sec-websocket-protocol']).toBe(protocol);
  const messages: Buffer[] = [];
  const sink = {
    messageStart: () => void messages.push(Buffer.alloc(0)),
    messageData: (chunk: Buffer) => void messages.push(Buffer.concat([messages.pop() as Buffer, chunk])),
    messageEnd: () => {},
  };
  const connection = new WebSocketConnection(socket, { role: 'client', sink });
  if (head.length > 0) socket.unshift(head);
  await connection.closed;
  return messages;
}

test.each([
  ['binary.k8s.io', (data: Buffer) => data],
  ['base64.binary.k8s.io', (data: Buffer) => Buffer.from(data.toString(), 'base64')],
])('a log is read over a WebSocket, by %s', async (protocol, decode) => {
  const port = await freePort();
  at.start(`proxy-${port}`, 'kubectl', ['proxy', `--port=${port}`]);
  await expect.poll(() => at.log(`proxy-${port}`)).toContain('Starting to serve');
  const url = `http://127.0.0.1:${port}/api/v1/namespaces/default/pods/web/log?container=web`;
  const [first, ...others] = await webSocketMessages(url, protocol);
  // Upstream's first message is empty.
  expect([first?.length, Buffer.concat(others.map(decode)).toString()]).toEqual([0, expect.stringContaining('simulated container web')]);
});

test.each(['exec', 'attach', 'portforward', 'proxy'])('nobody without rights gets through %s', async (subresource) => {
  const path = `/api/v1/namespaces/default/pods/web/${subresource}${subresource === 'proxy' ? '/' : '?stdout=true&command=ls&ports=80'}`;
  const { code, stderr } = await at.run('kubectl', ['get', '--raw', path, '--as=nobody']);
  expect(code).toBe(1);
  expect(stderr).toContain(`cannot get resource "pods/${subresource}"`);
});
