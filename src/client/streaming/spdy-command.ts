import type { Duplex, Readable } from 'node:stream';
import { type Clock, keepAlive, SPDY_RESET, SpdyConnection, type SpdyStream } from '#base';
import { decodeOutcome, encodeOutcome, outcomeText } from './command-status.ts';
import { LIMITS } from './limits.ts';
import type { CommandOutcome, CommandSession, CommandStreamOptions, RemoteCommand } from './remote-command.ts';
import { encodeSize, TerminalSizes } from './terminal-sizes.ts';

/** In client preference order. */
export const SPDY_COMMAND_PROTOCOLS: readonly string[] = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
];

export interface SpdyCommandOptions extends CommandStreamOptions {
  /** The negotiated protocol; empty for old clients. */
  readonly protocol: string;
  readonly clock: Clock;
  /** Aborts the command. */
  readonly signal?: AbortSignal;
}

const STREAM_TYPE = 'streamtype';

function hasJsonStatus(protocol: string): boolean {
  return /^v[45]\./.test(protocol);
}

function hasResize(protocol: string): boolean {
  return /^v[345]\./.test(protocol);
}

/** A client's command over SPDY. Resolves when the client has opened all announced streams. */
export async function spdyCommandSession(transport: Duplex, options: SpdyCommandOptions): Promise<CommandSession> {
  const { protocol, clock, tty } = options;
  const expected = expectedStreams(options);
  const streams = new Map<string, SpdyStream>();
  let complete: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    complete = resolve;
  });
  const connection = new SpdyConnection(transport, {
    role: 'server',
    maxStreams: expected.size,
    onStream: (stream) => {
      const type = stream.headers.get(STREAM_TYPE) ?? '';
      if (!expected.has(type) || streams.has(type)) return stream.reset(SPDY_RESET.refusedStream);
      streams.set(type, stream);
      stream.reply();
      if (streams.size === expected.size) complete();
    },
  });
  const alive = spdyKeepAlive(connection, clock);
  void connection.closed.then(() => alive[Symbol.dispose]());
  await withinCreationTime(arrived, connection, clock);
  const error = streams.get('error')!;
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((type) => streams.get(type));
  const sizes = new TerminalSizes();
  streams.get('resize')?.on('data', (chunk: Buffer) => sizes.write(chunk));
  // No data is expected on these; drained so that they do not block the session.
  for (const output of [error, stdout, stderr]) output?.resume();
  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && !tty && { stderr }),
    onResize: (listener) => sizes.listen(listener),
    finish: (outcome) => {
      error.end(hasJsonStatus(protocol) ? encodeOutcome(outcome) : outcomeText(outcome), () => connection.close());
      const timer = clock.setTimer(LIMITS.closeMs, () => transport.destroy());
      void connection.closed.then(() => timer.cancel());
    },
    closed: connection.closed,
    destroy: () => void transport.destroy(),
  };
}

function expectedStreams({ stdin, stdout, stderr, tty, protocol }: SpdyCommandOptions): ReadonlySet<string> {
  const types = ['error'];
  if (stdin) types.push('stdin');
  if (stdout) types.push('stdout');
  if (stderr && !tty) types.push('stderr');
  if (tty && hasResize(protocol)) types.push('resize');
  return new Set(types);
}

async function withinCreationTime(arrived: Promise<void>, connection: SpdyConnection, clock: Clock): Promise<void> {
  const late = new AbortController();
  const expired = clock.sleep(LIMITS.streamCreationMs, late.signal).then(
    () => 'expired',
    () => 'expired',
  );
  const first = await Promise.race([arrived, expired, connection.closed.then(() => 'closed')]);
  late.abort();
  if (first === undefined) return;
  connection.close();
  throw new Error(first === 'closed' ? 'the client closed the connection' : 'timed out waiting for client to create streams');
}

export function spdyKeepAlive(connection: SpdyConnection, clock: Clock): Disposable {
  return keepAlive({
    clock,
    intervalMs: LIMITS.keepAliveMs,
    activity: () => connection.activity,
    ping: () => void connection.ping(),
    stalledSide: () => connection.stalledSide,
    onDead: () => connection.kill(),
  });
}

/** The client side of a command over an upgraded SPDY connection. */
export function spdyCommand(transport: Duplex, options: SpdyCommandOptions): RemoteCommand {
  const { protocol, clock, tty, signal } = options;
  const connection = new SpdyConnection(transport, { role: 'client' });
  const alive = spdyKeepAlive(connection, clock);
  const open = (type: string) => connection.openStream(new Map([[STREAM_TYPE, type]]));
  const error = open('error');
  const stdin = options.stdin ? open('stdin') : undefined;
  const stdout = options.stdout ? open('stdout') : undefined;
  const stderr = options.stderr && !tty ? open('stderr') : undefined;
  const resize = tty && hasResize(protocol) ? open('resize') : undefined;
  // These have no incoming data; drained to observe end and reset.
  for (const input of [stdin, resize]) input?.resume();
  const giveUp = () => connection.kill();
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  void connection.closed.then(() => {
    alive[Symbol.dispose]();
    signal?.removeEventListener('abort', giveUp);
  });
  const exit = readOutcome(error, hasJsonStatus(protocol)).then((outcome) => {
    if (outcome.type === 'failed') throw new Error(outcome.message);
    return { exitCode: outcome.exitCode };
  });
  const outputs = [stdout, stderr].filter((stream) => stream !== undefined);
  void Promise.allSettled([exit, ...outputs.map(closeOf)]).then(() => connection.close());
  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
    ...(resize && { resize: (width: number, height: number) => void resize.write(encodeSize(width, height)) }),
    exit,
  };
}

function closeOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
  });
}

async function readOutcome(error: SpdyStream, isJson: boolean): Promise<CommandOutcome> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    error.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= LIMITS.statusBytes) chunks.push(chunk);
    });
    error.once('end', () => resolve(decodeOutcome(Buffer.concat(chunks).toString(), isJson)));
    error.once('error', reject);
    error.once('close', () => reject(new Error('the connection was closed before the command ended')));
  });
}
