import type { Random } from '#base';

/** The system calls of a process on one file, and its output, in order, from `strace -f -xx -y`. */
export interface DiskTrace {
  readonly events: readonly DiskEvent[];
}

export type DiskEvent =
  /** `synced`: on the medium when the call returns (O_DSYNC). */
  | {
      readonly kind: 'write';
      readonly offset: number;
      readonly data: Buffer;
      readonly begin: number;
      readonly end: number;
      readonly synced: boolean;
    }
  | { readonly kind: 'sync'; readonly begin: number; readonly end: number }
  | { readonly kind: 'said'; readonly text: string; readonly begin: number; readonly end: number };

/** The system calls to trace. */
export const TRACED = 'openat,lseek,pwrite64,pwritev,write,writev,fdatasync,fsync,msync';

const CALL = /^(\d+) +(\w+)\((.*?)(?:\) += (-?\d+).*| <unfinished \.\.\.>)$/s;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+).*$/s;

interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
  readonly begin: number;
  readonly end: number;
}

export function parseTrace(trace: string, file: string): DiskTrace {
  const reader = new CallReader(file);
  const events = calls(trace).flatMap((call) => reader.eventsOf(call));
  return { events: events.sort((a, b) => a.begin - b.begin) };
}

/** Calls in the order of their start; those of several threads may overlap. */
function calls(trace: string): Call[] {
  const parsed: Call[] = [];
  const unfinished = new Map<string, { readonly name: string; readonly args: string; readonly begin: number }>();
  for (const [time, line] of trace.split('\n').entries()) {
    const resumed = RESUMED.exec(line);
    if (resumed !== null) {
      const [, pid, name, rest, result] = resumed;
      const started = unfinished.get(`${pid} ${name}`);
      if (started !== undefined) parsed.push({ ...started, args: started.args + rest!, result: Number(result), end: time });
      continue;
    }
    const call = CALL.exec(line);
    if (call === null) continue;
    const [, pid, name, args, result] = call;
    if (result === undefined) unfinished.set(`${pid} ${name}`, { name: name!, args: args!, begin: time });
    else parsed.push({ name: name!, args: args!, result: Number(result), begin: time, end: time });
  }
  return parsed.sort((a, b) => a.end - b.end);
}

/** Tracks O_DSYNC and the position of each descriptor. */
class CallReader {
  readonly #file: string;
  readonly #synced = new Set<string>();
  readonly #position = new Map<string, number>();

  constructor(file: string) {
    this.#file = file;
  }

  eventsOf(call: Call): DiskEvent[] {
    const { name, args, result, begin, end } = call;
    const fd = /^(\d+)</.exec(args)?.[1] ?? '';
    if (name === 'openat') this.#opened(args, String(result));
    if (name === 'write' && fd === '1') return [{ kind: 'said', text: bytesOf(args).toString(), begin, end }];
    const path = hexText(/^\d+<((?:\\x[0-9a-f]{2})*|[^>]*)>/.exec(args)?.[1] ?? '');
    if (!path.endsWith(this.#file) || result < 0) return [];
    if (name === 'lseek') this.#position.set(fd, result);
    if (name === 'fdatasync' || name === 'fsync') return [{ kind: 'sync', begin, end }];
    if (name === 'msync') throw new Error('the file was changed by way of its map');
    return name.includes('write') && result > 0 ? [this.#write(call, fd)] : [];
  }

  #opened(args: string, fd: string): void {
    const path = hexText(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '');
    if (/O_D?SYNC/.test(args) && path.endsWith(this.#file)) this.#synced.add(fd);
    else this.#synced.delete(fd);
    this.#position.set(fd, 0);
  }

  #write({ name, args, result, begin, end }: Call, fd: string): DiskEvent {
    const placed = name === 'pwrite64' || name === 'pwritev';
    const offset = placed ? Number(/, (\d+)$/.exec(args)?.[1]) : (this.#position.get(fd) ?? 0);
    if (!placed) this.#position.set(fd, offset + result);
    return { kind: 'write', offset, data: bytesOf(args).subarray(0, result), begin, end, synced: this.#synced.has(fd) };
  }
}

/** All string arguments after the file's name, joined. */
function bytesOf(args: string): Buffer {
  const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => Buffer.from(hex!.replaceAll('\\x', ''), 'hex'));
  return Buffer.concat(strings);
}

function hexText(text: string): string {
  return text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex').toString() : text;
}

const PAGE_BYTES = 4_096;

/** The file as a power cut at `time` may leave it: all flushed pages, and any subset of the pages written since. */
export function afterPowerCut({ events }: DiskTrace, time: number, random: Random): Buffer {
  const flushed = (write: { readonly end: number; readonly synced: boolean }) =>
    (write.synced && write.end <= time) || events.some((event) => event.kind === 'sync' && event.begin > write.end && event.end <= time);
  const pieces: { readonly offset: number; readonly data: Buffer }[] = [];
  for (const event of events) {
    if (event.kind !== 'write' || event.begin > time) continue;
    if (flushed(event)) pieces.push(event);
    else pieces.push(...pagesOf(event).filter(() => random.int(2) === 0));
  }
  const image = Buffer.alloc(Math.max(0, ...pieces.map(({ offset, data }) => offset + data.length)));
  for (const { offset, data } of pieces) data.copy(image, offset);
  for (const at of BOOT_IDS) if (at + 8 <= image.length) image.writeBigInt64LE(OTHER_BOOT, at);
  return image;
}

/** LMDB records the boot id to distinguish a power cut from the end of a process: simulates another boot. */
const BOOT_IDS = [0, PAGE_BYTES / 2, PAGE_BYTES].map((head) => head + 160);
const OTHER_BOOT = 7n;

function pagesOf({
  offset,
  data,
}: {
  readonly offset: number;
  readonly data: Buffer;
}): { readonly offset: number; readonly data: Buffer }[] {
  const pages = [];
  for (let at = 0; at < data.length; at += PAGE_BYTES) pages.push({ offset: offset + at, data: data.subarray(at, at + PAGE_BYTES) });
  return pages;
}
