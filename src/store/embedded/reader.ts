import type { RangeOptions } from 'lmdb';
import { keyBounds } from '../key-bounds.ts';
import type { LazyValue } from '../lazy-value.ts';
import type { Entry, LeaseId, Page, RangeRequest, WatchEvent } from '../store.ts';
import type { Change, HistoryChunk } from '../watch-hub.ts';
import {
  copyValue,
  decodeIndex,
  decodeLog,
  type IndexRecord,
  isDeleted,
  type Location,
  type LogRecord,
  locationOf,
  previousOf,
  revisionOf,
} from './records.ts';
import type { Tables } from './tables.ts';

/** One chunk of a range: its entries, and where to continue. */
export interface RangeChunk {
  readonly entries: readonly Entry[];
  /** The number of keys, including those beyond the limit. */
  readonly count: number;
  /** Undefined when the range is at its end. */
  readonly next: string | undefined;
}

const NO_BYTES = Buffer.alloc(0);

/** Reads versions of keys. Every read names its revision: committed but unpublished changes stay invisible. */
export class Reader {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  index(key: string): IndexRecord | undefined {
    const bytes = this.#tables.index.getBinaryFast(key);
    return bytes && decodeIndex(bytes);
  }

  entry(key: string, revision: number): Entry | undefined {
    const latest = this.index(key);
    const version = latest && this.#versionAt(latest, revision);
    return version === undefined ? undefined : this.entryOf(key, version);
  }

  /** The version with its value. */
  entryOf(key: string, version: IndexRecord): Entry {
    return toEntry(key, version, this.value(version.location) ?? NO_BYTES);
  }

  /** Undefined when there is no such version, or it is a deletion. */
  value(location: Location): Buffer | undefined {
    if (location === 0) return undefined;
    const bytes = this.#log(location);
    return bytes === undefined || isDeleted(bytes) ? undefined : copyValue(bytes, bytes.length);
  }

  /** The value that the revision wrote to the key; undefined when there is none or it was compacted. */
  valueAt(key: string, revision: number): Buffer | undefined {
    const latest = this.index(key);
    const version = latest && this.#versionAt(latest, revision);
    return version === undefined || revisionOf(version.location) !== revision ? undefined : this.value(version.location);
  }

  /** Walks back from the latest version to the one that was current right after `revision`. */
  #versionAt(latest: IndexRecord, revision: number): IndexRecord | undefined {
    let version: IndexRecord | undefined = latest;
    while (version !== undefined && revisionOf(version.location) > revision) version = this.#before(version.location);
    return version === undefined || version.deleted ? undefined : version;
  }

  #before(location: Location): IndexRecord | undefined {
    const bytes = this.#log(location);
    const previous = bytes === undefined ? 0 : previousOf(bytes);
    if (previous === 0) return undefined;
    const older = this.#log(previous);
    return older && { ...decodeLog(older), location: previous };
  }

  /** Valid until the next read of any table. */
  #log(location: Location): Buffer | undefined {
    const bytes = this.#tables.log.getBinaryFast(location);
    return bytes === undefined || bytes instanceof Buffer ? bytes : asBuffer(bytes);
  }

  /** Reads at most `budget` keys of the range. */
  range(request: RangeRequest, revision: number, budget: number): RangeChunk {
    const { select = 'entries', limit = Number.POSITIVE_INFINITY, withCount = false } = request;
    const entries: Entry[] = [];
    let count = 0;
    let visited = 0;
    const { start, end } = keyBounds(request);
    if (end !== undefined && Buffer.compare(start, end) >= 0) return { entries, count, next: undefined };
    const bounds = { start: start.length === 0 ? undefined : start, end } as RangeOptions;
    for (const { key, value } of this.#tables.index.getRange(bounds)) {
      if (visited++ === budget) return { entries, count, next: key as string };
      const version = this.#versionAt(decodeIndex(value), revision);
      if (version === undefined) continue;
      count++;
      if (select === 'count') continue;
      if (entries.length < limit)
        entries.push(select === 'keys' ? toEntry(key as string, version, NO_BYTES) : this.entryOf(key as string, version));
      else if (!withCount) break;
    }
    return { entries, count, next: undefined };
  }

  /** Changes of whole transactions from `revision` up to `last`. */
  history(revision: number, last: number, atMost: number): HistoryChunk<Location> {
    const changes: Change<Location>[] = [];
    let through = revision - 1;
    for (const { key, value } of this.#tables.log.getRange(logBounds(revision, last))) {
      const at = revisionOf(key);
      if (changes.length >= atMost && at !== through) return { changes, throughRevision: through };
      through = at;
      const record = decodeLog(value);
      changes.push({ event: toEvent(record, at, record.deleted ? undefined : copyValue(value, value.length)), previous: record.previous });
    }
    return { changes, throughRevision: last };
  }

  /** Versions without their values. */
  *logRecords(from: number, through: number): Iterable<{ readonly location: Location; readonly record: LogRecord }> {
    for (const { key, value } of this.#tables.logHeads.getRange(logBounds(from, through))) yield { location: key, record: value };
  }
}

function logBounds(from: number, through: number): { readonly start: Location; readonly end: Location } {
  return { start: locationOf(from, 0), end: locationOf(through + 1, 0) };
}

function toEntry(key: string, version: IndexRecord, value: Uint8Array): Entry {
  const { location, createRevision, version: number, lease } = version;
  return { key, value, createRevision, modRevision: revisionOf(location), version: number, lease: leaseId(lease) };
}

export function toEvent(record: LogRecord, revision: number, value: Uint8Array | undefined, written?: LazyValue): WatchEvent {
  const { deleted, key, createRevision, version, lease } = record;
  return {
    type: deleted ? 'delete' : 'put',
    key,
    value,
    written,
    prevValue: undefined,
    modRevision: revision,
    createRevision: deleted ? 0 : createRevision,
    version: deleted ? 0 : version,
    lease: leaseId(lease),
  };
}

export function leaseId(lease: number): LeaseId | undefined {
  return lease === 0 ? undefined : lease.toString(16);
}

/** lmdb returns a view of its memory map for large values. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Whether a result of `select: entries` is complete, from its chunks. */
export function toPage(request: RangeRequest, chunk: Omit<RangeChunk, 'next'>, revision: number): Page {
  const { entries, count } = chunk;
  const hasMore = request.select !== 'count' && count > entries.length;
  return { status: 'ok', entries, more: hasMore, count: hasMore && request.withCount !== true ? undefined : count, revision };
}
