import { bytesOf, type LazyValue } from './lazy-value.ts';
import type { Operation, RangeRequest, TxnRequest, WatchOptions } from './store.ts';
import { StoreError } from './store-error.ts';

/** The longest key that every engine accepts, in bytes of UTF-8. */
export const MAX_KEY_BYTES = 1_900;
/** etcd's default limit of a request, including its overhead per operation. */
export const MAX_REQUEST_BYTES = 1.5 * 1024 * 1024;
/** The default message limit of etcd's client. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** etcd's default limit of operations in a transaction. */
export const MAX_OPERATIONS = 128;
/** Upper bound of an operation's or comparison's encoding overhead beyond key and value. */
export const OPERATION_BYTES = 64;
/** The longest lease that etcd grants. */
export const MAX_TTL_SECONDS = 9_000_000_000;

/** Short enough for any characters: a UTF-16 unit takes at most three bytes. */
const MAX_SAFE_CHARS = MAX_KEY_BYTES / 3;
const LONE_SURROGATE = /\p{Surrogate}/u;

export function checkKey(key: string): void {
  if (typeof key !== 'string') throw new StoreError('invalid', 'a key must be a string');
  if (key.length === 0) throw new StoreError('invalid', 'a key must not be empty');
  checkBound(key, 'key');
}

function checkBound(text: string, noun: string): void {
  if (text.length > MAX_SAFE_CHARS && Buffer.byteLength(text) > MAX_KEY_BYTES) {
    throw new StoreError('too-large', `${noun} of ${Buffer.byteLength(text)} bytes is over the limit of ${MAX_KEY_BYTES}`);
  }
  if (LONE_SURROGATE.test(text)) throw new StoreError('invalid', `${noun} is not well-formed Unicode`);
}

export function checkRevision(revision: number, noun: string): void {
  if (!Number.isSafeInteger(revision) || revision < 0) {
    throw new StoreError('invalid', `${noun} must be a whole number from 0, not ${String(revision)}`);
  }
}

export function checkRange(request: RangeRequest): void {
  if (request.prefix !== undefined) checkBound(request.prefix, 'prefix');
  if (request.start !== undefined) checkBound(request.start, 'start');
  if (request.end !== undefined) checkBound(request.end, 'end');
  if (request.limit !== undefined && (!Number.isSafeInteger(request.limit) || request.limit < 1)) {
    throw new StoreError('invalid', `limit must be a whole number from 1, not ${String(request.limit)}`);
  }
  if (request.revision !== undefined) checkPastRevision(request.revision, 'revision');
}

function checkPastRevision(revision: number, noun: string): void {
  checkRevision(revision, noun);
  if (revision === 0) throw new StoreError('invalid', `${noun} must be at least 1`);
}

export function checkWatch(options: WatchOptions): void {
  if (options.prefix !== undefined) checkBound(options.prefix, 'prefix');
  if (options.fromRevision !== undefined) checkPastRevision(options.fromRevision, 'fromRevision');
}

export function checkCompact(revision: number): void {
  checkPastRevision(revision, 'revision');
}

export function checkTtl(ttlSeconds: number): void {
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > MAX_TTL_SECONDS) {
    throw new StoreError('invalid', `a time to live must be whole seconds from 1 to ${MAX_TTL_SECONDS}, not ${String(ttlSeconds)}`);
  }
}

/** Throws unless every engine can accept the transaction. For an engine that `needsBytes`, lazy values are encoded here. */
export function checkTxn(request: TxnRequest, needsBytes: boolean): void {
  const { compare, write, elseRead } = request;
  if (write.length > MAX_OPERATIONS || (compare?.length ?? 0) > MAX_OPERATIONS || (elseRead?.length ?? 0) > MAX_OPERATIONS) {
    throw new StoreError('too-large', `a transaction has at most ${MAX_OPERATIONS} operations`);
  }
  const overhead = (write.length + (compare?.length ?? 0) + (elseRead?.length ?? 0)) * OPERATION_BYTES;
  let most = overhead;
  for (const operation of write) most += checkOperation(operation, needsBytes);
  if (most > MAX_REQUEST_BYTES) checkLength(write, overhead);
  if (write.length > 1) checkDistinct(write);
  if (compare !== undefined) {
    for (const { key, modRevision } of compare) {
      checkKey(key);
      checkRevision(modRevision, 'modRevision');
    }
  }
  if (elseRead !== undefined) for (const key of elseRead) checkKey(key);
}

function checkOperation(operation: Operation, needsBytes: boolean): number {
  checkKey(operation.key);
  if (operation.type === 'delete') return operation.key.length;
  if (operation.type !== 'put') throw new StoreError('invalid', `unknown operation ${String((operation as Operation).type)}`);
  if (!(operation.value instanceof Uint8Array) && !isLazy(operation.value))
    throw new StoreError('invalid', `the value of ${operation.key} must be bytes`);
  if (operation.ttlSeconds !== undefined) {
    checkTtl(operation.ttlSeconds);
    if (operation.lease !== undefined) throw new StoreError('invalid', `${operation.key} has both a lease and a time to live`);
  }
  if (operation.lease !== undefined) checkLeaseId(operation.lease);
  return operation.key.length + (needsBytes ? bytesOf(operation.value).length : mostBytesOf(operation.value));
}

function mostBytesOf(value: Uint8Array | LazyValue): number {
  return value instanceof Uint8Array ? value.length : value.mostBytes;
}

function isLazy(value: unknown): value is LazyValue {
  return typeof value === 'object' && value !== null && 'mostBytes' in value;
}

/** Counts the actual size of lazy values, which may be below their estimate. */
function checkLength(write: readonly Operation[], overhead: number): void {
  let bytes = overhead;
  for (const operation of write) bytes += operation.key.length + (operation.type === 'put' ? bytesOf(operation.value).length : 0);
  if (bytes > MAX_REQUEST_BYTES) throw new StoreError('too-large', tooLarge(bytes));
}

/** The messages of etcd and of its client, which clients of Kubernetes see. */
function tooLarge(bytes: number): string {
  if (bytes <= MAX_MESSAGE_BYTES) return 'etcdserver: request is too large';
  return `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${MAX_MESSAGE_BYTES})`;
}

export function checkLeaseId(id: string): void {
  if (!/^[0-9a-f]{1,16}$/.test(id) || /^0+$/.test(id)) throw new StoreError('invalid', `${JSON.stringify(id)} is not a lease`);
}

function checkDistinct(write: readonly Operation[]): void {
  const seen = new Set<string>();
  for (const { key } of write) {
    if (seen.has(key)) throw new StoreError('invalid', `key ${key} is written twice in one transaction`);
    seen.add(key);
  }
}
