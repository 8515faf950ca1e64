import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { duplexPair, realClock, seededRandom, VirtualClock } from '#base';
import { acceptCommand, relayCommand, spdyCommand } from '#client';
import { streamingUrlClient } from '../../src/kubelet/cri/grpc/streaming-url-client.ts';

// A misbehaving streaming server of a container runtime: exec, attach and port-forward end in bounded time, and leave nothing behind.

const ALL = { stdin: true, stdout: true, stderr: true, tty: false };
const REQUEST = { ...ALL, containerId: 'c' };
const UPGRADED =
  'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n\r\n';
const SECOND = 1000;
const random = seededRandom(Number(process.env.HOSTILE_SEED ?? 1));
const garbage = (length: number) => Buffer.from(Array.from({ length }, () => random.int(256)));

type Lie = (socket: Socket) => void;

const LIES: Readonly<Record<string, Lie>> = {
  'says nothing': () => {},
  'closes the connection': (socket) => socket.destroy(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'answers with garbage': (socket) => socket.end(garbage(2000)),
  'answers 200 with a body that never ends': (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nno'),
  'answers 500': (socket) => socket.end('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\noops'),
  'upgrades and says nothing': (socket) => socket.write(UPGRADED),
  'upgrades and vanishes': (socket) => socket.write(UPGRADED, () => socket.resetAndDestroy()),
  'upgrades and sends garbage': (socket) => socket.write(Buffer.concat([Buffer.from(UPGRADED), garbage(5000)])),
  'upgrades and sends half a frame': (socket) => socket.write(Buffer.concat([Buffer.from(UPGRADED), Buffer.from([0x80, 3, 0, 2, 0])])),
  'upgrades and resets every stream': (socket) => {
    const resets = Array.from({ length: 20 }, (_, i) => Buffer.from([0x80, 3, 0, 3, 0, 0, 0, 8, 0, 0, 0, 2 * i + 1, 0, 0, 0, 5]));
    socket.write(Buffer.concat([Buffer.from(UPGRADED), ...resets]));
  },
};

let server: ReturnType<typeof createServer>;
let url: string;
let lie: Lie;
const sockets = new Set<Socket>();
const faults: unknown[] = [];
const onFault = (error: unknown) => void faults.push(error);

beforeEach(async () => {
  process.on('unhandledRejection', onFault);
  process.on('uncaughtException', onFault);
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.once('data', () => lie(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/token`;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  process.off('unhandledRejection', onFault);
  process.off('uncaughtException', onFault);
});

/** Advances virtual time in steps, so that real sockets can keep up, until the promise settles. */
async function passTime<T>(clock: VirtualClock, work: Promise<T>, limitMs: number): Promise<T> {
  let isOver = false;
  const settled = work.finally(() => {
    isOver = true;
  });
  settled.catch(() => {});
  for (let passed = 0; !isOver && passed < limitMs; passed += SECOND) {
    await realClock.sleep(5);
    await clock.advance(SECOND);
  }
  for (let i = 0; i < 1000 && !isOver; i++) await realClock.sleep(10);
  if (!isOver) throw new Error(`not over after ${limitMs} ms`);
  return settled;
}

describe.each(Object.entries(LIES))('a streaming server that %s', (_name, behaviour) => {
  test('ends a command with an error', async () => {
    lie = behaviour;
    const clock = new VirtualClock();
    const run = async () => {
      const command = await streamingUrlClient({ clock }).command(url, REQUEST);
      command.stdout?.resume();
      command.stderr?.resume();
      command.stdin?.on('error', () => {}).write('hello');
      return command.exit;
    };
    await expect(passTime(clock, run(), 120 * SECOND)).rejects.toThrow();
    await expect.poll(() => sockets.size).toBe(0);
    expect(faults).toEqual([]);
  });

  test('ends a connection to a port', async () => {
    lie = behaviour;
    const clock = new VirtualClock();
    const run = async () => {
      const stream = await streamingUrlClient({ clock }).portForward(url, 80);
      stream.on('error', () => {});
      stream.once('end', () => stream.end());
      stream.resume();
      stream.write('hello');
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    };
    // Some fail when they are opened, the others while they run.
    const settled = run().catch((error: Error) => error);
    await passTime(clock, settled, 120 * SECOND);
    await expect.poll(() => sockets.size).toBe(0);
    expect(faults).toEqual([]);
  });

  test('is a failure that the client is told of, through the kubelet', async () => {
    lie = behaviour;
    const clock = new VirtualClock();
    const outcome = await passTime(clock, commandThroughKubelet(clock), 180 * SECOND).catch((error: Error) => error);
    expect(outcome).toBeInstanceOf(Error);
    await expect.poll(() => sockets.size).toBe(0);
    expect(faults).toEqual([]);
  });
});

/** A client's command over SPDY, as the kubelet serves it: opens the runtime's stream first, then joins it with the client's. */
async function commandThroughKubelet(clock: VirtualClock): Promise<unknown> {
  const { near, far } = duplexPair();
  const left = new AbortController();
  const command = await streamingUrlClient({ clock }).command(url, REQUEST, { signal: left.signal });
  const headers: Readonly<Record<string, string>> = {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': 'v4.channel.k8s.io',
  };
  const accepted = acceptCommand((name) => headers[name], {
    ...ALL,
    clock,
    run: (session) => relayCommand(session, command, () => left.abort()),
  });
  const served = accepted.serve(far);
  const client = spdyCommand(near, { ...ALL, protocol: 'v4.channel.k8s.io', clock });
  client.stdout?.resume();
  client.stderr?.resume();
  const exit = await client.exit.finally(() => left.abort());
  await served;
  return exit;
}
