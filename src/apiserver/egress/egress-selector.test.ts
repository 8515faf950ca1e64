import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialedConnection, GrpcServer, type MethodHandler, MetricsRegistry, realClock, seededRandom } from '#base';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { readEgressSelector } from './egress-selector.ts';
import { PACKET, Packet, PROXY_METHOD } from './network-proxy-messages.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-egress-'));
const at = (name: string) => path.join(directory, name);
const proxyRequests: string[] = [];
const servers: (Server | http.Server)[] = [];
let port = 0;
let agent: GrpcServer;

async function listen<T extends Server>(server: T, where?: string): Promise<T> {
  servers.push(server);
  if (where === undefined) server.listen(0, '127.0.0.1');
  else server.listen(where);
  await once(server, 'listening');
  return server;
}

/** A proxy that connects to loopback instead of the requested host, and refuses port 1. */
function tunnel(request: http.IncomingMessage, client: Socket): void {
  proxyRequests.push(`${request.method} ${request.url}`);
  if (request.url?.endsWith(':1')) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  const server = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    server.pipe(client).pipe(server);
  });
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
}

/** The same by the network proxy's protocol. */
const proxy: MethodHandler = async function* (requests, { signal }) {
  const out: Uint8Array[] = [];
  let wake = () => {};
  const send = (packet: Parameters<typeof Packet.encode>[0]) => {
    out.push(Packet.encode(packet));
    wake();
  };
  const ended = (async () => {
    let server: Socket | undefined;
    for await (const bytes of requests) {
      const { type, dialRequest, data, closeRequest } = Packet.decode(bytes);
      if (type === PACKET.dialRequest && dialRequest) {
        const { address, protocol, random } = dialRequest;
        proxyRequests.push(`${protocol} ${address}`);
        if (address.endsWith(':1')) send({ type: PACKET.dialResponse, dialResponse: { error: 'dial refused', random } });
        else {
          server = connect(Number(address.split(':').at(-1)), '127.0.0.1', () =>
            send({ type: PACKET.dialResponse, dialResponse: { connectId: 7n, random } }),
          );
          server.on('data', (chunk) => send({ type: PACKET.data, data: { connectId: 7n, data: chunk } }));
          server.on('end', () => send({ type: PACKET.closeResponse, closeResponse: { connectId: 7n } }));
        }
      } else if (type === PACKET.data) server?.write(data!.data);
      else if (type === PACKET.closeRequest && closeRequest) server?.end();
    }
    server?.destroy();
  })();
  let isOver = false;
  // The client may also leave without an end.
  void ended
    .catch(() => {})
    .then(() => {
      isOver = true;
      wake();
    });
  while (!isOver && !signal.aborted) {
    yield* out.splice(0);
    if (!isOver && out.length === 0) await new Promise<void>((resolve) => (wake = resolve));
  }
};

beforeAll(async () => {
  const { key, cert } = LOOPBACK_TLS as { key: string; cert: string };
  writeFileSync(at('tls.crt'), cert);
  writeFileSync(at('tls.key'), key);
  // Sends a greeting, then echoes.
  const echo = createTcpServer((socket) => void socket.on('error', () => {}).pipe(socket));
  port = ((await listen(echo)).address() as AddressInfo).port;
  await listen(http.createServer().on('connect', tunnel as never), at('connect.sock'));
  agent = await GrpcServer.start({ endpoint: `unix://${at('grpc.sock')}`, methods: [{ name: PROXY_METHOD, handle: proxy }] });
});

afterAll(async () => {
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
  await agent[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

async function selectorOf(connection: object) {
  const file = at('egress.yaml');
  const head = { apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' };
  writeFileSync(file, JSON.stringify({ ...head, egressSelections: [{ name: 'cluster', connection }] }));
  const metrics = new MetricsRegistry();
  return { metrics, selector: readEgressSelector(file, { clock: realClock, random: seededRandom(1), metrics }) };
}

async function readExactly(connection: Duplex, length: number): Promise<Buffer> {
  const received: Buffer[] = [];
  let size = 0;
  for await (const chunk of connection as AsyncIterable<Buffer>) {
    received.push(chunk);
    size += chunk.length;
    if (size >= length) break;
  }
  return Buffer.concat(received);
}

async function proxyAt(kind: 'http' | 'https'): Promise<string> {
  const { key, cert } = LOOPBACK_TLS as { key: string; cert: string };
  const server = kind === 'http' ? http.createServer() : https.createServer({ key, cert });
  await listen(server.on('connect', tunnel as never) as http.Server);
  return `${kind}://localhost:${(server.address() as AddressInfo).port}`;
}

const tlsConfig = { caBundle: at('tls.crt'), clientCert: at('tls.crt'), clientKey: at('tls.key') };
const CONNECTIONS: readonly (readonly [string, string, () => Promise<object>])[] = [
  ['HTTPConnect over TCP', 'CONNECT', async () => ({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: await proxyAt('http') } } })],
  [
    'HTTPConnect over TLS',
    'CONNECT',
    async () => ({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: await proxyAt('https'), tlsConfig } } }),
  ],
  [
    'HTTPConnect over a unix socket',
    'CONNECT',
    async () => ({ proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: at('connect.sock') } } }),
  ],
  ['GRPC over a unix socket', 'tcp', async () => ({ proxyProtocol: 'GRPC', transport: { uds: { udsName: at('grpc.sock') } } })],
];

test.each(CONNECTIONS)('connections go by %s', async (_, verb, connectionOf) => {
  const { selector, metrics } = await selectorOf(await connectionOf());
  proxyRequests.length = 0;
  const sent = randomBytes(300_000);
  const connection = dialedConnection(selector.cluster!, { host: '10.9.8.7', port });
  connection.write(sent);
  expect((await readExactly(connection, sent.length)).equals(sent)).toBe(true);
  expect(proxyRequests).toEqual([`${verb} 10.9.8.7:${port}`]);
  const refused = dialedConnection(selector.cluster!, { host: '2001:db8::1', port: 1 });
  const [error] = (await once(refused, 'error')) as [Error];
  expect(error.message).toMatch(/code 403: 403 Forbidden|dial refused/);
  expect(proxyRequests[1]).toBe(`${verb} [2001:db8::1]:1`);
  expect(metrics.text()).toMatch(/apiserver_egress_dialer_dial_failure_count\{.*stage="proxy"\} 1/);
});

test('a TLS connection through an unreachable proxy fails with the reason', async () => {
  const { selector } = await selectorOf({ proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: at('nobody.sock') } } });
  const socket = connectTls({ socket: dialedConnection(selector.cluster!, { host: '10.0.0.1', port: 443 }) });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toContain('dialing 10.0.0.1:443 by proxy');
});

test('egress selections with protocol Direct have no dialer', async () => {
  expect((await selectorOf({ proxyProtocol: 'Direct' })).selector).toEqual({});
});
