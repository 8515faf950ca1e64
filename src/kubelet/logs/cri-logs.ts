import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '#base';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { PodContainer } from '../pods/pod-state.ts';
import type { ContainerLogs, LogEntry, LogReadOptions } from './container-logs.ts';
import { parseLogLine } from './cri-log-line.ts';
import { countLines, LineCutter, LogFile, readRotated, rotatedFiles } from './log-files.ts';

export interface CriLogsDeps {
  /** For followed logs: whether the container still runs. */
  readonly runtime: Pick<ContainerRuntime, 'containerStatus'>;
  readonly clock: Clock;
}

/** Polling interval: file watches do not work everywhere, such as on network file systems. */
const LOOK_AGAIN_MS = 1000;

/** CRI log files: rotated ones, compressed or not, then the current one, and new output. */
export function criLogs(deps: CriLogsDeps): ContainerLogs {
  return {
    read: (container, options = {}) => {
      const entries = readLogs(container, options, deps);
      const { tailLines, follow = false } = options;
      return tailLines === undefined || follow ? entries : firstEntries(entries, tailLines);
    },
  };
}

/** No more than this many: a container may write on while its last entries are read. */
async function* firstEntries(entries: AsyncGenerator<LogEntry>, count: number): AsyncGenerator<LogEntry> {
  let left = count;
  if (left <= 0) return;
  for await (const entry of entries) {
    yield entry;
    if (--left === 0) return;
  }
}

async function* readLogs(container: PodContainer, options: LogReadOptions, deps: CriLogsDeps): AsyncGenerator<LogEntry> {
  const { tailLines, follow = false, signal } = options;
  const current = container.logPath;
  await using file = await LogFile.open(current);
  const inCurrent = file === undefined || tailLines === undefined ? 0 : await file.seekTail(tailLines);
  yield* rotatedEntries(current, tailLines === undefined ? undefined : tailLines - inCurrent, signal);
  const lines = new LineCutter();
  if (file !== undefined) yield* entriesOf(file, lines, signal);
  if (follow) yield* followed(container, { file, lines, signal }, deps);
}

/** The entries of rotated files; with `tail` only the last ones. */
async function* rotatedEntries(current: string, tail: number | undefined, signal: AbortSignal | undefined): AsyncGenerator<LogEntry> {
  if (tail === 0) return;
  const files = await rotatedFiles(current);
  const { from, skip } = tail === undefined ? { from: 0, skip: 0 } : await rotatedStart(files, tail);
  let left = skip;
  for (const file of files.slice(from)) {
    const lines = new LineCutter();
    for await (const chunk of readRotated(file)) {
      if (signal?.aborted) return;
      for (const line of lines.push(chunk)) {
        const entry = left-- > 0 ? undefined : parseLogLine(line);
        if (entry !== undefined) yield entry;
      }
    }
  }
}

async function rotatedStart(files: readonly string[], tail: number): Promise<{ readonly from: number; readonly skip: number }> {
  let missing = tail;
  for (let from = files.length - 1; from >= 0; from--) {
    const count = await countLines(readRotated(files[from]!));
    if (count >= missing) return { from, skip: count - missing };
    missing -= count;
  }
  return { from: 0, skip: 0 };
}

/** The entries from the last read position to the end. */
async function* entriesOf(file: LogFile, lines: LineCutter, signal: AbortSignal | undefined): AsyncGenerator<LogEntry> {
  for (let chunk = await file.next(); chunk !== undefined; chunk = await file.next()) {
    if (signal?.aborted) return;
    for (const line of lines.push(chunk)) {
      const entry = parseLogLine(line);
      if (entry !== undefined) yield entry;
    }
  }
}

interface FollowOptions {
  readonly file: LogFile | undefined;
  readonly lines: LineCutter;
  readonly signal: AbortSignal | undefined;
}

/** New entries, across rotations, until the container has exited and everything was read. */
async function* followed(container: PodContainer, { file, lines, signal }: FollowOptions, deps: CriLogsDeps): AsyncGenerator<LogEntry> {
  using changes = new DirectoryChanges(path.dirname(container.logPath), deps.clock);
  let open = file;
  let own: LogFile | undefined;
  try {
    while (!signal?.aborted) {
      const hasEnded = !(await isRunning(container, deps));
      if (open !== undefined) yield* entriesOf(open, lines, signal);
      const next = await rotatedTo(container.logPath, open);
      if (next !== undefined) {
        // Entries written between the last read and the rotation.
        if (open !== undefined) yield* entriesOf(open, lines, signal);
        await own?.[Symbol.asyncDispose]();
        own = next;
        open = next;
      } else if (hasEnded) return;
      else await changes.next(signal);
    }
  } finally {
    await own?.[Symbol.asyncDispose]();
  }
}

/** The current log file, if the open one was rotated away. */
async function rotatedTo(current: string, open: LogFile | undefined): Promise<LogFile | undefined> {
  const identity = await stat(current).catch(() => undefined);
  if (identity === undefined || (await open?.isCurrent(identity))) return undefined;
  return LogFile.open(current);
}

async function isRunning({ id }: PodContainer, { runtime }: CriLogsDeps): Promise<boolean> {
  try {
    return (await runtime.containerStatus(id)).state === 'running';
  } catch {
    // Removed, or the runtime is unreachable: no more output is expected.
    return false;
  }
}

/** Wakes up when a directory changes, and periodically. */
class DirectoryChanges implements Disposable {
  readonly #clock: Clock;
  readonly #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(directory: string, clock: Clock) {
    this.#clock = clock;
    const changed = () => {
      this.#hasChanged = true;
      this.#wake?.();
    };
    try {
      this.#watcher = watch(directory, changed);
      this.#watcher.on('error', () => {});
    } catch {
      // The directory is gone, or there are no watches left: polling remains.
    }
  }

  next(signal: AbortSignal | undefined): Promise<void> {
    if (this.#hasChanged || signal?.aborted) {
      this.#hasChanged = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = () => {
        this.#wake = undefined;
        this.#hasChanged = false;
        timer.cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#clock.setTimer(LOOK_AGAIN_MS, done);
      this.#wake = done;
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }
}
