import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import tls from 'node:tls';
import { realClock } from '#base';
import { type Benchmark, SharedRuns } from './harness.ts';
import { startTlsPipe, temporaryDirectory, usageOf } from './server-process.ts';
import { execInPod, type KubeletPlace, startStreamSite } from './stream-site.ts';

const BYTES = Number(process.env.STREAM_BYTES ?? 1 << 30);
const IDLE_STREAMS = Number(process.env.STREAM_IDLE ?? 1000);
const CHUNK = Buffer.alloc(64 * 1024);
type Direction = 'in' | 'out';

function source(): Readable {
  let left = BYTES;
  return new Readable({
    read() {
      left -= CHUNK.length;
      this.push(left >= 0 ? CHUNK : null);
    },
  });
}

async function drain(from: Readable): Promise<number> {
  let bytes = 0;
  from.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(from, 'end');
  return bytes;
}

async function mebibytesPerSecond(transfer: () => Promise<number>): Promise<number> {
  const since = performance.now();
  const bytes = await transfer();
  if (bytes !== BYTES) throw new Error(`${bytes} of ${BYTES} bytes arrived`);
  return BYTES / (1 << 20) / ((performance.now() - since) / 1000);
}

/** To or from its own process, like the server. */
async function tlsRate(direction: Direction): Promise<number> {
  await using server = await startTlsPipe(BYTES);
  const socket = tls.connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write(direction === 'out' ? 'o' : 'i');
  const rate = await mebibytesPerSecond(async () => {
    const received = drain(socket);
    if (direction === 'out') return received;
    await pipeline(source(), socket);
    await received;
    return BYTES;
  });
  socket.destroy();
  return rate;
}

interface Transfer {
  readonly rate: number;
  /** What all processes on the way held at most beyond what they held before. */
  readonly extraMiB: number;
}

function transfers(kind: 'websocket' | 'spdy', direction: Direction, place: KubeletPlace): SharedRuns<Transfer> {
  return new SharedRuns(async () => {
    using directory = temporaryDirectory();
    await using site = await startStreamSite(directory.path, place);
    // The first bytes compile what the rest runs.
    await transfer(site.port, kind, { direction, bytes: 1 << 24 });
    for (const pid of site.pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const before = site.pids.map(usageOf);
    const rate = await mebibytesPerSecond(() => transfer(site.port, kind, { direction, bytes: BYTES }));
    const extraMiB = site.pids.map(usageOf).reduce((sum, usage, i) => sum + usage.peakMiB - before[i]!.residentMiB, 0);
    return { rate, extraMiB };
  });
}

async function transfer(port: number, kind: 'websocket' | 'spdy', { direction, bytes }: { direction: Direction; bytes: number }) {
  const command = direction === 'out' ? ['head', '-c', String(bytes), '/dev/zero'] : ['wc', '-c'];
  const { stdin, stdout, exit } = await execInPod(port, kind, command);
  if (direction === 'out') {
    const received = await drain(stdout!);
    await exit;
    return received;
  }
  let answer = '';
  stdout!.on('data', (chunk: Buffer) => {
    answer += chunk;
  });
  await pipeline(bytes === BYTES ? source() : Readable.from([Buffer.alloc(bytes)]), stdin!);
  await exit;
  return Number(answer);
}

function transferBenchmarks(kind: 'websocket' | 'spdy', direction: Direction, place: KubeletPlace): readonly Benchmark[] {
  const runs = transfers(kind, direction, place);
  const name = `streams: 1 GiB ${direction} over ${kind}, ${place} kubelet`;
  const rounds = 2;
  return [
    {
      ...{ kind: 'macro', name, unit: 'MiB/s', better: 'higher', rounds },
      baseline: { name: 'a plain TLS pipe', measure: () => tlsRate(direction) },
      subject: runs.figure('exec', ({ rate }) => rate),
    },
    {
      ...{ kind: 'macro', name: `${name}: extra memory`, unit: 'MiB', better: 'lower', rounds },
      baseline: { name: 'the goal', measure: async () => 32 },
      subject: runs.figure('exec', ({ extraMiB }) => extraMiB),
    },
  ];
}

/** Kibibytes that the server holds for a stream on which nothing happens. */
async function idleCost(kind: 'websocket' | 'spdy'): Promise<number> {
  using directory = temporaryDirectory();
  await using site = await startStreamSite(directory.path, 'local');
  const open = async (count: number) => {
    const commands = [];
    for (let i = 0; i < count; i++) commands.push(await execInPod(site.port, kind, ['cat']));
    return commands;
  };
  const first = await open(50);
  await realClock.sleep(2000);
  const before = usageOf(site.pids[0]!).residentMiB;
  const commands = await open(IDLE_STREAMS);
  await realClock.sleep(2000);
  const after = usageOf(site.pids[0]!).residentMiB;
  for (const { stdin } of [...first, ...commands]) stdin!.end();
  await Promise.allSettled([...first, ...commands].map(({ exit }) => exit));
  return ((after - before) * 1024) / IDLE_STREAMS;
}

const KINDS = ['websocket', 'spdy'] as const;
const PLACES = ['local', 'remote'] as const;

export const benchmarks: Benchmark[] = [
  ...KINDS.flatMap((kind) => PLACES.flatMap((place) => (['in', 'out'] as const).flatMap((way) => transferBenchmarks(kind, way, place)))),
  ...KINDS.map(
    (kind): Benchmark => ({
      ...{ kind: 'macro', name: `streams: one of ${IDLE_STREAMS} idle over ${kind}`, unit: 'KiB', better: 'lower', rounds: 1 },
      baseline: { name: 'the goal', measure: async () => 50 },
      subject: { name: 'resident memory', measure: () => idleCost(kind) },
    }),
  ),
];
