import { once } from 'node:events';
import { type Duplex, PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { duplexPair, type Random, realClock, seededRandom } from '#base';
import { acceptCommand, acceptPortForward, PortForwardClient, relayCommand, spdyCommand, webSocketCommand } from '#client';

/** The long run: `STREAM_FUZZ_INPUTS=1000000`. */
const INPUTS = Number(process.env.STREAM_FUZZ_INPUTS ?? 2000);
const SEED = Number(process.env.HOSTILE_SEED ?? 1);
const ALL = { stdin: true, stdout: true, stderr: true, tty: false };
const KEY = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };

type Headers = Readonly<Record<string, string>>;

interface Protocol {
  readonly name: string;
  readonly headers: Headers;
  /** The behaviour of a correct client on a connection. */
  readonly behave: (connection: Duplex) => Promise<void>;
  readonly serve: (headers: Headers, connection: Duplex) => Promise<void>;
}

const SPDY: Headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
const WEBSOCKET: Headers = { connection: 'Upgrade', upgrade: 'websocket', ...KEY };

function serveCommand(headers: Headers, connection: Duplex): Promise<void> {
  const stdin = new PassThrough();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdin.on('data', (chunk: Buffer) => stdout.write(chunk)).once('end', () => [stdout, stderr].map((stream) => stream.end()));
  const exit = once(stdin, 'close').then(() => ({ exitCode: 0 }));
  const run = (session: Parameters<typeof relayCommand>[0]) =>
    relayCommand(session, { stdin, stdout, stderr, exit, resize: () => {} }, () => stdin.destroy());
  return acceptCommand((name) => headers[name], { ...ALL, clock: realClock, run }).serve(connection);
}

function servePorts(headers: Headers, connection: Duplex): Promise<void> {
  const dial = async () => new PassThrough();
  return acceptPortForward((name) => headers[name], { clock: realClock, ports: [80], dial }).serve(connection);
}

async function talk(command: { readonly stdin?: NodeJS.WritableStream; readonly stdout?: NodeJS.ReadableStream }): Promise<void> {
  command.stdout?.resume();
  command.stdin?.write('hello');
  command.stdin?.end('and goodbye');
}

const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'commands over SPDY',
    headers: { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    behave: (connection) => talk(spdyCommand(connection, { ...ALL, protocol: 'v4.channel.k8s.io', clock: realClock })),
    serve: serveCommand,
  },
  {
    name: 'commands over WebSocket',
    headers: { ...WEBSOCKET, 'sec-websocket-protocol': 'v5.channel.k8s.io' },
    behave: (connection) => talk(webSocketCommand(connection, { ...ALL, protocol: 'v5.channel.k8s.io', clock: realClock })),
    serve: serveCommand,
  },
  {
    name: 'ports over SPDY',
    headers: { ...SPDY, 'x-stream-protocol-version': 'portforward.k8s.io' },
    behave: async (connection) => {
      const stream = new PortForwardClient(connection, realClock).open(80);
      stream.on('error', () => {});
      stream.end('GET / HTTP/1.1\r\n\r\n');
    },
    serve: servePorts,
  },
];

/** The bytes that this client sends. */
async function recorded({ behave, headers, serve }: Protocol): Promise<Buffer> {
  const [client, server] = [duplexPair(), duplexPair()];
  const chunks: Buffer[] = [];
  client.far.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    server.near.write(chunk);
  });
  server.near.pipe(client.far);
  const served = serve(headers, server.far);
  await behave(client.near);
  await expect.poll(() => Buffer.concat(chunks).length, { timeout: 2000 }).toBeGreaterThan(40);
  client.near.destroy();
  server.near.destroy();
  await served.catch(() => {});
  return Buffer.concat(chunks);
}

/** The same with some bytes changed, removed, inserted or repeated; sometimes random bytes only. */
function mutated(bytes: Buffer, random: Random): Buffer {
  if (random.int(20) === 0) return Buffer.from(Array.from({ length: random.int(200) }, () => random.int(256)));
  let mutant = Buffer.from(bytes);
  for (let changes = 1 + random.int(4); changes > 0 && mutant.length > 0; changes--) {
    const at = random.int(mutant.length);
    const length = random.int(Math.min(16, mutant.length - at) + 1);
    const kinds = [
      () => Buffer.concat([mutant.subarray(0, at), Buffer.from([mutant[at]! ^ (1 << random.int(8))]), mutant.subarray(at + 1)]),
      () => Buffer.concat([mutant.subarray(0, at), mutant.subarray(at + length)]),
      () => Buffer.concat([mutant.subarray(0, at), mutant.subarray(at, at + length), mutant.subarray(at)]),
      () => Buffer.concat([mutant.subarray(0, at), Buffer.alloc(length, 0xff), mutant.subarray(at)]),
      () => mutant.subarray(0, at),
    ];
    mutant = kinds[random.int(kinds.length)]!();
  }
  return mutant;
}

/** Sends the bytes in pieces, then disconnects. The server must end the session in any case. */
async function attack({ serve, headers }: Protocol, bytes: Buffer, random: Random): Promise<void> {
  const { near, far } = duplexPair();
  near.on('error', () => {});
  near.resume();
  const served = serve(headers, far).catch(() => {});
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.int(bytes.length);
    if (!near.destroyed) near.write(bytes.subarray(at, at + length));
    at += length;
  }
  await new Promise((resolve) => setImmediate(resolve));
  near.destroy();
  await served;
}

describe.each(PROTOCOLS)('frames of $name', (protocol) => {
  test('that make no sense end the connection and nothing else', { timeout: 60_000 + INPUTS * 10 }, async () => {
    const random = seededRandom(SEED);
    const bytes = await recorded(protocol);
    for (let i = 0; i < INPUTS; i++) await attack(protocol, mutated(bytes, random), random);
    expect(bytes.length).toBeGreaterThan(0);
  });
});
