import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MetricsRegistry, silentLogger, VirtualClock } from '#base';
import { DnsMetrics } from '../dns-metrics.ts';
import type { Resolver } from '../resolver.ts';
import { listenTcp } from './tcp-server.ts';
import type { DnsListener } from './udp-server.ts';

let clock: VirtualClock;
let server: DnsListener;
const sockets: Socket[] = [];
/** Echoes queries, except `?`, for which it fails. */
const resolver = {
  resolve(bytes: Buffer) {
    if (bytes.toString() === '?') throw new Error('a fault');
    return bytes;
  },
} as unknown as Resolver;

beforeEach(async () => {
  clock = new VirtualClock();
  const metrics = new DnsMetrics(new MetricsRegistry(), 53);
  server = await listenTcp({ host: '127.0.0.1', port: 0 }, { resolver, clock, logger: silentLogger, metrics });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server[Symbol.asyncDispose]();
});

async function open(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  return reply.subarray(2).toString();
}

test('a DNS connection without complete queries is closed, one with queries stays open', async () => {
  const slow = await open();
  const good = await open();
  slow.write(Buffer.from([0xff, 0xff]));
  for (let second = 0; second < 9; second++) {
    slow.write(Buffer.from([0]));
    expect(await ask(good, 'x')).toBe('x');
    await clock.advance(1_000);
  }
  const closed = once(slow, 'close');
  await clock.advance(1_500);
  await closed;
  expect(await ask(good, 'still')).toBe('still');
});

test('a client can only open new DNS connections within its limit', async () => {
  const first = await Promise.all(Array.from({ length: 64 }, open));
  const over = await open();
  await once(over, 'close');
  const ended = once(first[0]!, 'close');
  first[0]!.destroy();
  await ended;
  await expect.poll(async () => Promise.race([ask(await open(), 'x'), once(sockets.at(-1)!, 'close').then(() => 'closed')])).toBe('x');
});

test('a DNS query that fails only ends its own connection', async () => {
  const [bad, good] = [await open(), await open()];
  bad.write(Buffer.from([0, 1, 0x3f]));
  await once(bad, 'close');
  expect(await ask(good, 'x')).toBe('x');
});
