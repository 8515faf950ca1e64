import { realClock } from '#base';
import { type ApiDriver, quantile, timed } from './api-driver.ts';

export interface TickWatchOptions {
  /** The collection whose objects `path/p-0`, `path/p-1`, … are updated and watched. */
  readonly path: string;
  readonly watchers: number;
  readonly updates: number;
}

export interface TickWatchFigures {
  readonly eventsPerSecond: number;
  /** From the moment an update is sent until a watcher has its event. */
  readonly p99Ms: number;
}

const WRITERS = 4;
const PATIENCE_MS = 60_000;

/** Updates objects with many watchers: done when every watcher has received every update once. */
export async function tickWatch(driver: ApiDriver, options: TickWatchOptions): Promise<TickWatchFigures> {
  const { path, watchers, updates } = options;
  const { metadata } = await driver.read<{ metadata: { resourceVersion: string } }>(`${path}?limit=1`);
  const target = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}&labelSelector=app%3Dcart`;
  const ticks = new Ticks(updates);
  const readers = Array.from({ length: watchers }, () => new TickReader(ticks));
  const open = await Promise.all(readers.map((reader) => driver.watch(target, (chunk) => reader.take(chunk))));
  const since = realClock.monotonic();
  await sendTicks(driver, ticks, path);
  await Promise.all(readers.map((reader) => reader.untilAllSeen(since + PATIENCE_MS)));
  for (const watch of open) watch[Symbol.dispose]();
  const seconds = (ticks.lastSeenAt - since) / 1000;
  return { eventsPerSecond: (watchers * updates) / seconds, p99Ms: quantile(ticks.delays, 0.99) };
}

async function sendTicks(driver: ApiDriver, ticks: Ticks, path: string): Promise<void> {
  await timed(ticks.count, WRITERS, (i) => {
    ticks.sent(i);
    const body = { metadata: { annotations: { 'bench-tick': String(i) } } };
    return driver.send('PATCH', `${path}/p-${i}`, { body, contentType: 'application/merge-patch+json' });
  });
}

/** When each update was sent, and the delays of its events. */
class Ticks {
  readonly count: number;
  readonly delays: number[] = [];
  lastSeenAt = 0;
  readonly #sentAt: Float64Array;

  constructor(count: number) {
    this.count = count;
    this.#sentAt = new Float64Array(count);
  }

  sent(tick: number): void {
    this.#sentAt[tick] = realClock.monotonic();
  }

  seen(tick: number): void {
    this.lastSeenAt = realClock.monotonic();
    this.delays.push(this.lastSeenAt - (this.#sentAt[tick] as number));
  }
}

const NEW_LINE = 10;
const POLL_MS = 1;
const MARK = Buffer.from('"bench-tick":"');

/** Finds the updates in a watcher's stream and reads as little of it as possible: the driver must not be the bottleneck. */
class TickReader {
  readonly #ticks: Ticks;
  readonly #seen: Uint8Array;
  #count = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(ticks: Ticks) {
    this.#ticks = ticks;
    this.#seen = new Uint8Array(ticks.count);
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(NEW_LINE) + 1;
    this.#rest = bytes.subarray(end);
    const lines = bytes.subarray(0, end);
    for (let at = lines.indexOf(MARK); at >= 0; at = lines.indexOf(MARK, at)) {
      at += MARK.length;
      this.#see(Number.parseInt(lines.toString('latin1', at, at + 8), 10));
    }
  }

  #see(tick: number): void {
    this.#seen[tick] = (this.#seen[tick] as number) + 1;
    this.#count++;
    this.#ticks.seen(tick);
  }

  async untilAllSeen(deadline: number): Promise<void> {
    while (this.#count < this.#ticks.count) {
      if (realClock.monotonic() > deadline) throw new Error(`a watcher has seen ${this.#count} of ${this.#ticks.count} updates`);
      await realClock.sleep(POLL_MS);
    }
    const missed = this.#seen.findIndex((times) => times !== 1);
    if (missed >= 0) throw new Error(`a watcher has seen update ${missed} ${this.#seen[missed]} times`);
  }
}
