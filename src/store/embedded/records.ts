/**
 * The binary records of the embedded engine's tables (format 1).
 *
 * A version of a key is in the log, at its location: the revision that wrote it, and its index among the operations of that transaction.
 * The index maps a key to its latest version, and each version points to the previous one.
 */
import { MAX_OPERATIONS } from '../limits.ts';

/** The location of a version in the log; 0: none. */
export type Location = number;

export function locationOf(revision: number, operation: number): Location {
  return revision * MAX_OPERATIONS + operation;
}

export function revisionOf(location: Location): number {
  return Math.floor(location / MAX_OPERATIONS);
}

/** The latest version of a key, without its value. A deleted key stays until compaction, so that the past can be read. */
export interface IndexRecord {
  readonly location: Location;
  readonly deleted: boolean;
  readonly createRevision: number;
  readonly version: number;
  /** 0 is none. */
  readonly lease: number;
}

export interface LogRecord extends Omit<IndexRecord, 'location'> {
  readonly key: string;
  /** The version before this one. */
  readonly previous: Location;
}

const DELETED = 1;
const INDEX_BYTES = 33;
const LOG_HEAD_BYTES = 35;

/** Memory for records until they are committed: lmdb reads it from another thread, so it is not reused before. */
export class RecordBuffer {
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;

  take(bytes: number): Buffer {
    if (bytes > CHUNK_BYTES / 4) return Buffer.allocUnsafeSlow(bytes);
    if (this.#used + bytes > CHUNK_BYTES) {
      this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.#used = 0;
    }
    this.#used += bytes;
    return this.#chunk.subarray(this.#used - bytes, this.#used);
  }

  /** Releases all allocated memory. */
  reset(): void {
    this.#used = 0;
  }
}

const CHUNK_BYTES = 1 << 18;

export function encodeIndex(record: IndexRecord, buffer: RecordBuffer): Buffer {
  const bytes = buffer.take(INDEX_BYTES);
  bytes[0] = record.deleted ? DELETED : 0;
  bytes.writeDoubleLE(record.location, 1);
  bytes.writeDoubleLE(record.createRevision, 9);
  bytes.writeDoubleLE(record.version, 17);
  bytes.writeDoubleLE(record.lease, 25);
  return bytes;
}

export function decodeIndex(bytes: Buffer): IndexRecord {
  return {
    location: bytes.readDoubleLE(1),
    deleted: bytes[0] === DELETED,
    createRevision: bytes.readDoubleLE(9),
    version: bytes.readDoubleLE(17),
    lease: bytes.readDoubleLE(25),
  };
}

export function encodeLog(record: LogRecord, value: Uint8Array | undefined, buffer: RecordBuffer): Buffer {
  const keyBytes = Buffer.byteLength(record.key);
  const bytes = buffer.take(LOG_HEAD_BYTES + keyBytes + (value?.length ?? 0));
  bytes[0] = record.deleted ? DELETED : 0;
  bytes.writeUInt16LE(keyBytes, 1);
  bytes.writeDoubleLE(record.previous, 3);
  bytes.writeDoubleLE(record.createRevision, 11);
  bytes.writeDoubleLE(record.version, 19);
  bytes.writeDoubleLE(record.lease, 27);
  bytes.write(record.key, LOG_HEAD_BYTES);
  if (value !== undefined) bytes.set(value, LOG_HEAD_BYTES + keyBytes);
  return bytes;
}

export function decodeLog(bytes: Buffer): LogRecord {
  return {
    deleted: bytes[0] === DELETED,
    key: bytes.toString('utf8', LOG_HEAD_BYTES, LOG_HEAD_BYTES + bytes.readUInt16LE(1)),
    previous: bytes.readDoubleLE(3),
    createRevision: bytes.readDoubleLE(11),
    version: bytes.readDoubleLE(19),
    lease: bytes.readDoubleLE(27),
  };
}

/** The value of a log record of `size` bytes, copied out of the buffer that the next read overwrites. */
export function copyValue(bytes: Buffer, size: number): Buffer {
  const start = LOG_HEAD_BYTES + bytes.readUInt16LE(1);
  const value = Buffer.allocUnsafe(size - start);
  bytes.copy(value, 0, start, size);
  return value;
}

export function isDeleted(bytes: Buffer): boolean {
  return bytes[0] === DELETED;
}

export function previousOf(bytes: Buffer): Location {
  return bytes.readDoubleLE(3);
}

/** The numbers of the store, written with every commit. */
export interface StateRecord {
  readonly revision: number;
  readonly compactRevision: number;
  /** Compacted history has been removed up to here. */
  readonly scrubbedRevision: number;
  readonly nextLease: number;
}

export function encodeState(state: StateRecord, buffer: RecordBuffer): Buffer {
  const bytes = buffer.take(32);
  bytes.writeDoubleLE(state.revision, 0);
  bytes.writeDoubleLE(state.compactRevision, 8);
  bytes.writeDoubleLE(state.scrubbedRevision, 16);
  bytes.writeDoubleLE(state.nextLease, 24);
  return bytes;
}

export function decodeState(bytes: Buffer): StateRecord {
  return {
    revision: bytes.readDoubleLE(0),
    compactRevision: bytes.readDoubleLE(8),
    scrubbedRevision: bytes.readDoubleLE(16),
    nextLease: bytes.readDoubleLE(24),
  };
}

export interface LeaseRecord {
  readonly id: number;
  readonly ttlSeconds: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export function encodeLease(lease: LeaseRecord, buffer: RecordBuffer): Buffer {
  const bytes = buffer.take(16);
  bytes.writeDoubleLE(lease.ttlSeconds, 0);
  bytes.writeDoubleLE(lease.expiresAt, 8);
  return bytes;
}

export function decodeLease(id: number, bytes: Buffer): LeaseRecord {
  return { id, ttlSeconds: bytes.readDoubleLE(0), expiresAt: bytes.readDoubleLE(8) };
}
