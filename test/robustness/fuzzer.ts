import type { Random } from '#base';
import { keyAfter, type Operation, type RangeRequest, type Store, type TxnRequest, type WatchEvent } from '#store';
import { StoreModel } from './store-model.ts';

export interface FuzzOptions {
  readonly random: Random;
  readonly operations: number;
  /** There are other writers: revisions only increase. */
  readonly shared?: boolean;
  /** Includes compactions; not for shared servers. */
  readonly compact?: boolean;
}

const KEYS = ['/a', '/a/1', '/a/2', '/a/2/x', '/a\0', '/b', '/b/1', '/b/é', '/c/中', '/c/😀', '/c/\uffff', '/d', '/z/1', '/z/2', '/z/3'];
const PREFIXES = ['', '/', '/a', '/a/', '/b/', '/c/', '/z', '/none'];

/** Random operations on a store and on its model in sequence; throws at the first difference. */
export async function fuzz(store: Store, options: FuzzOptions): Promise<void> {
  const fuzzer = new Fuzzer(store, options, new StoreModel(await store.revision()));
  for (let i = 0; i < options.operations; i++) {
    try {
      await fuzzer.step();
    } catch (cause) {
      throw new Error(`operation ${i} differs from the model: ${(cause as Error).message}`, { cause });
    }
  }
  await fuzzer.finish();
}

interface FuzzWatch {
  readonly prefix: string;
  readonly from: number;
  readonly events: WatchEvent[];
  readonly prevValue: boolean;
  cancel(): void;
}

class Fuzzer {
  readonly #store: Store;
  readonly #options: FuzzOptions;
  readonly #model: StoreModel;
  readonly #start: number;
  readonly #watches: FuzzWatch[] = [];
  #written = 0;

  constructor(store: Store, options: FuzzOptions, model: StoreModel) {
    this.#store = store;
    this.#options = options;
    this.#model = model;
    this.#start = model.revision;
  }

  async step(): Promise<void> {
    const kind = this.#options.random.int(100);
    if (kind < 45) await this.#txn();
    else if (kind < 60) await this.#get();
    else if (kind < 85) await this.#range();
    else if (kind < 93) await this.#pages();
    else if (kind < 97) await this.#watch();
    else if (kind < 99) await this.#compact();
    else await this.#concurrent();
  }

  /** The watches must have received the model's changes. */
  async finish(): Promise<void> {
    for (const watch of this.#watches) {
      const expected = this.#model.events.filter(({ key, modRevision }) => key.startsWith(watch.prefix) && modRevision >= watch.from);
      const deadline = performance.now() + 20_000;
      while (watch.events.length < expected.length && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
      watch.cancel();
      same(
        watch.events.map((event) => simple(event, watch.prevValue)),
        expected.map((event) => simple(event, watch.prevValue)),
        `the watch of ${watch.prefix} from ${watch.from}`,
      );
    }
    same((await this.#page({})).entries, this.#model.range({}), 'the end');
  }

  #operations(): Operation[] {
    const { random } = this.#options;
    const keys = random.shuffle(KEYS).slice(0, random.pick([1, 1, 1, 2, 5]));
    return keys.map((key): Operation => (random.int(4) === 0 ? { type: 'delete', key } : { type: 'put', key, value: this.#value() }));
  }

  #value(): Buffer {
    const { random } = this.#options;
    const size = random.pick([0, 1, 10, 100, 1_000, random.pick([1_000, 5_000, 20_000])]);
    return Buffer.from(`${++this.#written} `.padEnd(size, 'x'));
  }

  #request(): TxnRequest {
    const { random } = this.#options;
    const compare = random
      .shuffle(KEYS)
      .slice(0, random.pick([0, 1, 1, 2]))
      .map((key) => {
        const modRevision = this.#model.get(key)?.modRevision ?? 0;
        return { key, modRevision: random.int(4) === 0 ? Math.max(0, modRevision - 1) : modRevision };
      });
    return { compare, write: this.#operations(), elseRead: random.shuffle(KEYS).slice(0, random.int(3)) };
  }

  async #txn(): Promise<void> {
    const request = this.#request();
    const before = this.#model.revision;
    const { succeeded, revision, reads } = await this.#store.txn(request);
    const expected = this.#model.txn(request, this.#options.shared === true ? revision : undefined);
    same(succeeded, expected, 'success');
    if (this.#options.shared !== true) same(revision, this.#model.revision, 'revision');
    else if (revision < before) throw new Error(`revision ${revision} after ${before}`);
    same(reads, succeeded ? [] : (request.elseRead ?? []).map((key) => this.#model.get(key)), 'reads');
  }

  async #get(): Promise<void> {
    const key = this.#options.random.pick(KEYS);
    same([(await this.#store.get(key)).entry], [this.#model.get(key)], key);
  }

  /** A past or the current revision. Of a shared server only revisions that the model knows. */
  #revision(): number {
    const { random } = this.#options;
    const first = Math.max(this.#start, this.#model.compactRevision, this.#model.revision - 200);
    return random.int(2) === 0 ? this.#model.revision : first + random.int(this.#model.revision - first + 1);
  }

  #rangeRequest(): RangeRequest {
    const { random } = this.#options;
    const request: RangeRequest = { prefix: random.pick(PREFIXES) };
    return {
      ...request,
      ...(random.int(3) === 0 ? { start: random.pick(KEYS) } : {}),
      ...(random.int(3) === 0 ? { end: random.pick(KEYS) } : {}),
      ...(random.int(2) === 0 ? { revision: this.#revision() } : {}),
    };
  }

  async #page(request: RangeRequest) {
    const page = await this.#store.range(request);
    if (page.status !== 'ok') throw new Error(`compacted at ${page.compactRevision}`);
    return page;
  }

  async #range(): Promise<void> {
    const { random } = this.#options;
    const request = this.#rangeRequest();
    const expected = this.#model.range(request);
    const limit = random.int(2) === 0 ? {} : { limit: 1 + random.int(8) };
    const select = random.pick(['entries', 'keys', 'count'] as const);
    const page = await this.#page({ ...request, ...limit, select, withCount: true });
    const cut =
      select === 'count'
        ? []
        : expected.slice(0, limit.limit).map((entry) => (select === 'keys' ? { ...entry, value: Buffer.alloc(0) } : entry));
    same(page.entries, cut, JSON.stringify(request));
    same(
      [page.count, page.more],
      [expected.length, select !== 'count' && cut.length < expected.length],
      `count of ${JSON.stringify(request)}`,
    );
    const { compactRevision } = this.#model;
    if (compactRevision > 1)
      same(await this.#store.range({ revision: compactRevision - 1 }), { status: 'compacted', compactRevision }, 'what was compacted');
  }

  /** Reads pages of one state during writes. */
  async #pages(): Promise<void> {
    const prefix = this.#options.random.pick(PREFIXES);
    const first = await this.#page({ prefix, limit: 3 });
    const expected = this.#model.range({ prefix, revision: first.revision });
    const seen = [...first.entries];
    for (let page = first; page.more; ) {
      await this.#txn();
      page = await this.#page({ prefix, limit: 3, start: keyAfter(seen.at(-1)!.key), revision: first.revision });
      seen.push(...page.entries);
    }
    same(seen, expected, `pages of ${prefix}`);
  }

  async #watch(): Promise<void> {
    const { random } = this.#options;
    if (this.#watches.length >= 25) return;
    const prefix = random.pick(PREFIXES);
    const from = Math.max(this.#revision(), this.#model.compactRevision) + 1;
    const prevValue = random.int(2) === 0;
    const events: WatchEvent[] = [];
    const handle = this.#store.watch(
      { prefix, fromRevision: from, prevValue },
      { events: (batch) => void events.push(...batch), progress() {}, end() {} },
    );
    this.#watches.push({ prefix, from, events, prevValue, cancel: () => handle.cancel() });
    // Lets the watches catch up: a compaction before that would legitimately end them.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Only revisions that every watch has received: a lagging watch would legitimately be ended. */
  async #compact(): Promise<void> {
    if (this.#options.compact !== true) return;
    const last = this.#watches.map(({ prefix, from, events }) => {
      const expected = this.#model.events.filter(({ key, modRevision }) => key.startsWith(prefix) && modRevision >= from);
      return events.length >= expected.length ? Number.POSITIVE_INFINITY : from - 1;
    });
    const revision = Math.min(this.#revision(), ...last);
    if (revision < 1) return;
    const { compactRevision } = this.#model;
    const expected = this.#model.compact(revision) ? { status: 'ok' } : { status: 'compacted', compactRevision };
    same(await this.#store.compact(revision), expected, `compaction of ${revision}`);
  }

  /** Concurrent transactions, in the order of the store. Each changes something, so each has its own revision. */
  async #concurrent(): Promise<void> {
    const { random } = this.#options;
    const keys = () => random.shuffle(KEYS).slice(0, 1 + random.int(3));
    const requests = Array.from({ length: 20 }, () => ({
      write: keys().map((key): Operation => ({ type: 'put', key, value: this.#value() })),
    }));
    const results = await Promise.all(requests.map((request) => this.#store.txn(request)));
    const order = results.map(({ revision }, i) => ({ revision, request: requests[i]! })).sort((a, b) => a.revision - b.revision);
    for (const { revision, request } of order) this.#model.txn(request, revision);
    same((await this.#page({})).entries, this.#model.range({}), 'the state after concurrent writes');
  }
}

function simple(event: WatchEvent, withPrevious: boolean): unknown {
  const { lease: _, prevValue, ...rest } = event;
  return withPrevious ? { ...rest, prevValue } : rest;
}

/** Compares by content: bytes as text, without leases. */
function same(actual: unknown, expected: unknown, label: string): void {
  const [a, b] = [canonical(actual), canonical(expected)];
  if (a === b) return;
  let at = 0;
  while (a[at] === b[at]) at++;
  throw new Error(
    `${label} differs at ${at}: got …${a.slice(Math.max(0, at - 100), at + 200)}…, expected …${b.slice(Math.max(0, at - 100), at + 200)}…`,
  );
}

function canonical(value: unknown): string {
  return JSON.stringify(plain(value));
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== 'lease');
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, item]) => [name, plain(item)]));
}
