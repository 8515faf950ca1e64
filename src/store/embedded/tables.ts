import { join } from 'node:path';
import { type Database, open, type RootDatabase, type RootDatabaseOptions } from 'lmdb';
import { decodeLog, type Location, type LogRecord } from './records.ts';

/** A key of the store, or a range bound that need not be one. */
export type KeyBound = string | Uint8Array;

export type LeaseKey = [lease: number, key: string];

/** The tables of one data file. Reads see committed writes; writes of one turn are committed together. */
export interface Tables {
  readonly root: RootDatabase;
  /** `format` and `state`. */
  readonly meta: Database<Buffer, KeyBound>;
  /** Key → latest version. */
  readonly index: Database<Buffer, KeyBound>;
  /** Location → version. */
  readonly log: Database<Buffer, Location>;
  /** The log without values, for reads that need only metadata. */
  readonly logHeads: Database<LogRecord, Location>;
  /** Lease → its times. */
  readonly leases: Database<Buffer, number>;
  /** The keys of each lease; the values are unused. */
  readonly leaseKeys: Database<Buffer, LeaseKey>;
}

export const DATA_FILE = 'data.mdb';

/** Sequential writes fill pages completely. */
export const APPEND = { append: true };

/**
 * How lmdb is used, and why:
 * - `overlappingSync: false`: a commit is on the medium before reads see it and before its promise resolves. With `true` its promise waits
 *   for the medium, too, but reads see it before, and may act on what a power cut then takes (embedded-power-cut.test.ts proves all of it).
 * - `eventTurnBatching: false`, and a start threshold that is never reached: lmdb hands a batch to its thread in the `setImmediate` after
 *   the first write, so everything written until then is one transaction. Its own batching leaves a promise without a handler behind,
 *   which ends the process when a commit fails.
 */
const LMDB_OPTIONS = {
  encoding: 'binary',
  overlappingSync: false,
  eventTurnBatching: false,
  txnStartThreshold: Number.MAX_SAFE_INTEGER,
  noMemInit: true,
  maxDbs: 8,
  // LMDB takes a directory name with a dot for a file.
  noSubdir: true,
} as RootDatabaseOptions;

export function openTables(directory: string): Tables {
  const root = open(join(directory, DATA_FILE), { ...LMDB_OPTIONS });
  return {
    root,
    meta: root.openDB<Buffer, KeyBound>('meta', table(keyCodec)),
    index: root.openDB<Buffer, KeyBound>('index', table(keyCodec)),
    log: root.openDB<Buffer, Location>('log', table(numberCodec)),
    logHeads: root.openDB<LogRecord, Location>('log', { keyEncoder: numberCodec, encoder: headDecoder } as never),
    leases: root.openDB<Buffer, number>('leases', table(numberCodec)),
    leaseKeys: root.openDB<Buffer, LeaseKey>('lease-keys', table(leaseKeyCodec)),
  };
}

function table<K>(keyEncoder: KeyCodec<K>): { encoding: 'binary'; keyEncoder: unknown } {
  return { encoding: 'binary', keyEncoder };
}

/** Decodes within lmdb's own buffer: values need not be copied first. */
const headDecoder = {
  encode(): never {
    throw new Error('versions are written whole');
  },
  decode: decodeLog,
};

interface KeyCodec<K> {
  /** Writes the key at `at`; returns the end. */
  writeKey(key: K, target: Buffer, at: number): number;
  readKey(source: Buffer, start: number, end: number): K;
}

const keyCodec: KeyCodec<KeyBound> = {
  writeKey(key, target, at) {
    if (typeof key === 'string') return at + target.write(key, at);
    target.set(key, at);
    return at + key.length;
  },
  readKey: (source, start, end) => source.toString('utf8', start, end),
};

const NUMBER_BYTES = 8;
const HIGH = 2 ** 32;

/** Big-endian, so that bytes are ordered as the numbers are. */
const numberCodec: KeyCodec<number> = {
  writeKey(key, target, at) {
    target.writeUInt32BE(Math.floor(key / HIGH), at);
    target.writeUInt32BE(key % HIGH, at + 4);
    return at + NUMBER_BYTES;
  },
  readKey: (source, start) => source.readUInt32BE(start) * HIGH + source.readUInt32BE(start + 4),
};

const leaseKeyCodec: KeyCodec<LeaseKey> = {
  writeKey: ([lease, key], target, at) => keyCodec.writeKey(key, target, numberCodec.writeKey(lease, target, at)),
  readKey: (source, start, end) => [numberCodec.readKey(source, start, end), source.toString('utf8', start + NUMBER_BYTES, end)],
};
