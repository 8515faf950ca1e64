/** The messages of etcd's v3 API that the engine uses, with the field numbers of etcd's rpc.proto and kv.proto. */
import { MessageReader, MessageWriter } from '#base';
import type { Entry, LeaseId } from '../store.ts';

export interface RangeCall {
  readonly start: Uint8Array;
  /** Undefined: the one key `start`. */
  readonly end?: Uint8Array | undefined;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

export function encodeRange(call: RangeCall): Buffer {
  return new MessageWriter()
    .bytes(1, call.start)
    .bytes(2, call.end ?? NOTHING)
    .number(3, call.limit ?? 0)
    .number(4, call.revision ?? 0)
    .flag(8, call.keysOnly ?? false)
    .flag(9, call.countOnly ?? false)
    .finish();
}

const NOTHING = new Uint8Array(0);

export interface RangeResponse {
  readonly revision: number;
  readonly entries: readonly Entry[];
  readonly more: boolean;
  readonly count: number;
}

/** Entries without `space`, the common prefix of all keys. */
export function decodeRange(bytes: Buffer, space: string): RangeResponse {
  return readRange(new MessageReader(bytes), space);
}

function readRange(reader: MessageReader, space: string): RangeResponse {
  const entries: Entry[] = [];
  let [revision, hasMore, count] = [0, false, 0];
  while (reader.next()) {
    if (reader.field === 1) revision = readHeader(reader.message());
    else if (reader.field === 2) entries.push(readEntry(reader.message(), space));
    else if (reader.field === 3) hasMore = reader.flag();
    else if (reader.field === 4) count = reader.number();
  }
  return { revision, entries, more: hasMore, count };
}

function readHeader(reader: MessageReader): number {
  let revision = 0;
  while (reader.next()) if (reader.field === 3) revision = reader.number();
  return revision;
}

/** The revision in the header of a response whose other fields are not needed. */
export function decodeHeader(bytes: Buffer): number {
  const reader = new MessageReader(bytes);
  let revision = 0;
  while (reader.next()) if (reader.field === 1) revision = readHeader(reader.message());
  return revision;
}

function readEntry(reader: MessageReader, space: string): Entry {
  let key = '';
  let value: Uint8Array = NOTHING;
  let lease: LeaseId | undefined;
  let [createRevision, modRevision, version] = [0, 0, 0];
  while (reader.next()) {
    if (reader.field === 1) key = reader.text().slice(space.length);
    else if (reader.field === 2) createRevision = reader.number();
    else if (reader.field === 3) modRevision = reader.number();
    else if (reader.field === 4) version = reader.number();
    else if (reader.field === 5) value = reader.bytes();
    else if (reader.field === 6) lease = reader.big().toString(16);
  }
  return { key, value, createRevision, modRevision, version, lease };
}

/** The comparison: EQUAL to the mod revision or, for upstream's compaction, the version. */
const COMPARE_VERSION = 0;
const COMPARE_MOD_REVISION = 2;

export function compareModRevision(key: Uint8Array, modRevision: number): Buffer {
  return new MessageWriter().number(2, COMPARE_MOD_REVISION).bytes(3, key).presentNumber(6, modRevision).finish();
}

export function compareVersion(key: Uint8Array, version: number): Buffer {
  return new MessageWriter().number(2, COMPARE_VERSION).bytes(3, key).presentNumber(4, version).finish();
}

export function putOperation(key: Uint8Array, value: Uint8Array, lease: LeaseId | undefined): Buffer {
  const put = new MessageWriter().bytes(1, key).bytes(2, value);
  if (lease !== undefined) put.big(3, BigInt(`0x${lease}`));
  return new MessageWriter().message(2, put.finish()).finish();
}

export function deleteOperation(key: Uint8Array): Buffer {
  return new MessageWriter().message(3, new MessageWriter().bytes(1, key).finish()).finish();
}

export function getOperation(key: Uint8Array): Buffer {
  return new MessageWriter().message(1, encodeRange({ start: key })).finish();
}

export interface TxnCall {
  readonly compare: readonly Buffer[];
  readonly success: readonly Buffer[];
  readonly failure: readonly Buffer[];
}

export function encodeTxn({ compare, success, failure }: TxnCall): Buffer {
  const writer = new MessageWriter();
  for (const part of compare) writer.message(1, part);
  for (const part of success) writer.message(2, part);
  for (const part of failure) writer.message(3, part);
  return writer.finish();
}

export interface TxnResponse {
  readonly revision: number;
  readonly succeeded: boolean;
  /** Of the reads among the operations. */
  readonly ranges: readonly RangeResponse[];
}

export function decodeTxn(bytes: Buffer, space: string): TxnResponse {
  const reader = new MessageReader(bytes);
  const ranges: RangeResponse[] = [];
  let [revision, succeeded] = [0, false];
  while (reader.next()) {
    if (reader.field === 1) revision = readHeader(reader.message());
    else if (reader.field === 2) succeeded = reader.flag();
    else if (reader.field === 3) {
      const operation = reader.message();
      while (operation.next()) if (operation.field === 1) ranges.push(readRange(operation.message(), space));
    }
  }
  return { revision, succeeded, ranges };
}

export function encodeCompact(revision: number): Buffer {
  return new MessageWriter().number(1, revision).finish();
}

export interface WatchCall {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly revision: number;
  readonly progress: boolean;
  readonly prevValue: boolean;
}

export function encodeWatchCreate(call: WatchCall): Buffer {
  const create = new MessageWriter()
    .bytes(1, call.start)
    .bytes(2, call.end ?? NOTHING)
    .number(3, call.revision)
    .flag(4, call.progress)
    .flag(6, call.prevValue)
    .flag(8, true)
    .finish();
  return new MessageWriter().message(1, create).finish();
}

export function encodeWatchProgress(): Buffer {
  return new MessageWriter().message(3, NOTHING).finish();
}

export interface WatchResponse {
  readonly revision: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More fragments of the response follow. */
  readonly fragment: boolean;
  readonly events: readonly ServerEvent[];
}

export interface ServerEvent {
  readonly type: 'put' | 'delete';
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

export function decodeWatch(bytes: Buffer, space: string): WatchResponse {
  const reader = new MessageReader(bytes);
  const events: ServerEvent[] = [];
  const answer = { revision: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '', fragment: false, events };
  while (reader.next()) {
    if (reader.field === 1) answer.revision = readHeader(reader.message());
    else if (reader.field === 3) answer.created = reader.flag();
    else if (reader.field === 4) answer.canceled = reader.flag();
    else if (reader.field === 5) answer.compactRevision = reader.number();
    else if (reader.field === 6) answer.cancelReason = reader.text();
    else if (reader.field === 7) answer.fragment = reader.flag();
    else if (reader.field === 11) events.push(readEvent(reader.message(), space));
  }
  return answer;
}

function readEvent(reader: MessageReader, space: string): ServerEvent {
  let type: ServerEvent['type'] = 'put';
  let entry: Entry | undefined;
  let previous: Entry | undefined;
  while (reader.next()) {
    if (reader.field === 1) type = reader.number() === 1 ? 'delete' : 'put';
    else if (reader.field === 2) entry = readEntry(reader.message(), space);
    else if (reader.field === 3) previous = readEntry(reader.message(), space);
  }
  if (entry === undefined) throw new Error('malformed message: an event without a key');
  return { type, entry, previous };
}

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  return new MessageWriter().number(1, ttlSeconds).finish();
}

/** Used by revocations and keep-alives. */
export function encodeLeaseId(id: LeaseId): Buffer {
  return new MessageWriter().big(1, BigInt(`0x${id}`)).finish();
}

export interface LeaseResponse {
  readonly id: LeaseId;
  /** 0: there is no such lease. */
  readonly ttlSeconds: number;
}

export function decodeLease(bytes: Buffer): LeaseResponse {
  const reader = new MessageReader(bytes);
  let [id, ttlSeconds] = ['0', 0];
  while (reader.next()) {
    if (reader.field === 2) id = reader.big().toString(16);
    else if (reader.field === 3) ttlSeconds = reader.number();
  }
  return { id, ttlSeconds };
}

export interface StatusResponse {
  readonly version: string;
  readonly sizeBytes: number;
  readonly usedBytes: number;
}

export function decodeStatus(bytes: Buffer): StatusResponse {
  const reader = new MessageReader(bytes);
  let [version, sizeBytes, usedBytes] = ['', 0, 0];
  while (reader.next()) {
    if (reader.field === 2) version = reader.text();
    else if (reader.field === 3) sizeBytes = reader.number();
    else if (reader.field === 9) usedBytes = reader.number();
  }
  return { version, sizeBytes, usedBytes };
}

export function decodeSnapshot(bytes: Buffer): Buffer {
  const reader = new MessageReader(bytes);
  while (reader.next()) if (reader.field === 3) return reader.bytes();
  return Buffer.alloc(0);
}
