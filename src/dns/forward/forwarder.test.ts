import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import packet, { type Answer } from 'dns-packet';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import type { ServerAddress } from '../config/dns-config-map.ts';
import { DnsMetrics } from '../dns-metrics.ts';
import { type DnsQuery, readQuery } from '../message/dns-message.ts';
import { Forwarder } from './forwarder.ts';

const closing: (() => void)[] = [];
let registry: MetricsRegistry;
let forwarder: Forwarder;
beforeEach(() => {
  registry = new MetricsRegistry();
  const deps = { clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new DnsMetrics(registry, 53) };
  forwarder = new Forwarder(deps);
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Responder = (query: packet.DecodedPacket) => Partial<packet.Packet> | undefined;

/** A name server; without an answer it stays silent. */
async function nameServer(answer: Responder, port = 0): Promise<ServerAddress & { readonly socket: Socket }> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => {
    const query = packet.decode(bytes);
    const reply = answer(query);
    if (reply === undefined) return;
    const { id = 0, questions = [] } = query;
    socket.send(packet.encode({ type: 'response', id, questions, flags: packet.RECURSION_DESIRED, ...reply }), from.port, from.address);
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  closing.push(() => socket.close());
  return { host: '127.0.0.1', port: socket.address().port, socket };
}

function queryFor(name: string): DnsQuery {
  const questions = [{ type: 'A' as const, name, class: 'IN' as const }];
  return readQuery(packet.encode({ type: 'query', id: 7, flags: packet.RECURSION_DESIRED, questions })) as DnsQuery;
}

const record = (name: string, data: string): Answer => ({ type: 'A', name, ttl: 60, data });
const ask = async (name: string, servers: readonly ServerAddress[], client = '10.0.0.1') =>
  packet.decode(await forwarder.forward(queryFor(name), client, servers)) as packet.DecodedPacket & { rcode?: string };

test('a failed DNS query goes to the next server, and cached answers to none', async () => {
  let queries = 0;
  const broken = await nameServer(() => ({ flags: 2 }));
  const good = await nameServer(({ questions = [] }) => {
    queries++;
    return { answers: [record(questions[0]!.name, '192.0.2.7')] };
  });
  for (let i = 0; i < 2; i++) expect(await ask('a.example', [broken, good])).toMatchObject({ answers: [{ data: '192.0.2.7' }] });
  expect(queries).toBe(1);
});

test('a query goes to the next server when there is no route to the first', async () => {
  // The kernel refuses to connect to the broadcast address, as it does without a route.
  const unreachable = { host: '255.255.255.255', port: 53 };
  const good = await nameServer(({ questions = [] }) => ({ answers: [record(questions[0]!.name, '192.0.2.7')] }));
  expect(await ask('a.example', [unreachable, good])).toMatchObject({ answers: [{ data: '192.0.2.7' }] });
});

test('a truncated DNS reply is queried again over TCP', async () => {
  const udp = await nameServer(() => ({ flags: packet.TRUNCATED_RESPONSE }));
  const tcp = createServer((socket) => {
    socket.on('data', (bytes) => {
      const { id = 0, questions = [] } = packet.decode(bytes.subarray(2));
      socket.end(packet.streamEncode({ type: 'response', id, questions, answers: [record('long.example', '192.0.2.8')] }));
    });
  });
  await new Promise<void>((resolve) => tcp.listen(udp.port, '127.0.0.1', resolve));
  closing.push(() => tcp.close());
  expect(await ask('long.example', [udp])).toMatchObject({ answers: [{ data: '192.0.2.8' }] });
});

test('a DNS client may have 100 queries in flight, without an effect on other clients', async () => {
  const open: (() => void)[] = [];
  const server = await nameServer(() => undefined);
  server.socket.removeAllListeners('message');
  server.socket.on('message', (bytes, from) => {
    const { id = 0, questions = [] } = packet.decode(bytes);
    const reply = packet.encode({ type: 'response', id, questions, answers: [record(questions[0]!.name, '192.0.2.9')] });
    open.push(() => server.socket.send(reply, from.port, from.address));
  });
  const greedy = Array.from({ length: 100 }, (_, i) => ask(`n${i}.example`, [server], '10.0.0.1'));
  expect(await ask('over.example', [server], '10.0.0.1')).toMatchObject({ rcode: 'REFUSED' });
  const other = ask('other.example', [server], '10.0.0.2');
  await expect.poll(() => open.length).toBe(101);
  for (const answer of open) answer();
  expect(await other).toMatchObject({ answers: [{ data: '192.0.2.9' }] });
  await Promise.all(greedy);
  expect(registry.text()).toMatch(/coredns_forward_max_concurrent_rejects_total 1/);
});

test('a DNS reply with another question or id is ignored', async () => {
  const server = await nameServer(() => undefined);
  server.socket.removeAllListeners('message');
  server.socket.on('message', (bytes, from) => {
    const { id = 0, questions = [] } = packet.decode(bytes);
    const send = (reply: packet.Packet) => server.socket.send(packet.encode({ type: 'response', ...reply }), from.port, from.address);
    send({ id: (id + 1) % 65_536, questions, answers: [record('a.example', '203.0.113.1')] });
    send({ id, questions: [{ type: 'A', name: 'b.example' }], answers: [record('b.example', '203.0.113.2')] });
    send({ id, questions, answers: [record('a.example', '192.0.2.1')] });
  });
  expect(await ask('a.example', [server])).toMatchObject({ answers: [{ data: '192.0.2.1' }] });
});
