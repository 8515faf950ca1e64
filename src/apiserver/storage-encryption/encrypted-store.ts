import { isPromise, type MaybePromise } from '#base';
import { StatusError } from '#machinery';
import {
  bytesOf,
  type Entry,
  type GetResult,
  type LazyValue,
  type Operation,
  type RangeRequest,
  type RangeResult,
  type Store,
  type TxnRequest,
  type TxnResult,
  type WatchEvent,
  type WatchHandle,
  type WatchOptions,
  type WatchSink,
} from '#store';
import { type DecryptedValue, StoredFormatError, type Transformer } from './transformer.ts';

/** The maximum overhead of a provider: mostly the wrapped seed and its annotations. */
const OVERHEAD_BYTES = 40 * 1024;

/** A store with transformed values. Everything else is delegated. */
export interface EncryptedStore extends Store {
  /** Whether the value would be stored differently now. */
  isStale(key: string, modRevision: number): Promise<boolean>;
}

/** `transformer` is called for each value, since the configuration may be reloaded. */
export function encryptedStore(store: Store, transformer: () => Transformer): EncryptedStore {
  const decrypt = (key: string, value: Uint8Array) => decrypted(transformer(), key, value);
  return {
    engine: store.engine,
    localReads: store.localReads,
    revision: (signal) => store.revision(signal),
    get: async (key, signal) => decryptGet(await store.get(key, signal), decrypt),
    range: async (request, signal) => decryptRange(await store.range(request, signal), request, decrypt),
    ...(store.valueAt && { valueAt: (key, modRevision) => syncValueAt(store, transformer, { key, modRevision }) }),
    txn: async (request, signal) => decryptTxn(await store.txn(encryptTxn(request, transformer()), signal), decrypt),
    watch: (options, sink) => watchDecrypted(store, options, { sink, decrypt }),
    grantLease: (ttlSeconds, signal) => store.grantLease(ttlSeconds, signal),
    renewLease: (id, signal) => store.renewLease(id, signal),
    revokeLease: (id, signal) => store.revokeLease(id, signal),
    compact: (revision, signal) => store.compact(revision, signal),
    snapshot: (file, signal) => store.snapshot(file, signal),
    defragment: (signal) => store.defragment(signal),
    status: (signal) => store.status(signal),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    async isStale(key, modRevision) {
      const { entry } = await store.get(key);
      return entry?.modRevision === modRevision && (await decrypt(key, entry.value)).isStale;
    },
  };
}

type Decrypt = (key: string, value: Uint8Array) => MaybePromise<DecryptedValue>;

/** Decryption errors include the key. */
function decrypted(transformer: Transformer, key: string, value: Uint8Array): MaybePromise<DecryptedValue> {
  const stored = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  try {
    const result = transformer.decrypt(stored, key);
    if (!isPromise(result)) return result;
    return result.catch((error: unknown) => {
      throw undecryptable(key, error);
    });
  } catch (error) {
    throw undecryptable(key, error);
  }
}

function undecryptable(key: string, cause: unknown): StatusError {
  const advice = cause instanceof StoredFormatError ? '' : '; check the keys of the encryption provider configuration';
  return StatusError.internalError(new Error(`unable to transform key "${key}": ${(cause as Error).message}${advice}`, { cause }));
}

async function decryptGet({ entry, revision }: GetResult, decrypt: Decrypt): Promise<GetResult> {
  return { entry: entry && (await decryptEntry(entry, decrypt)), revision };
}

async function decryptEntry(entry: Entry, decrypt: Decrypt): Promise<Entry> {
  return { ...entry, value: (await decrypt(entry.key, entry.value)).bytes };
}

async function decryptRange(result: RangeResult, { select }: RangeRequest, decrypt: Decrypt): Promise<RangeResult> {
  if (result.status !== 'ok' || select === 'keys' || select === 'count') return result;
  const entries: Entry[] = [];
  for (const entry of result.entries) {
    const opened = decrypt(entry.key, entry.value);
    const { bytes } = isPromise(opened) ? await opened : opened;
    entries.push({ ...entry, value: bytes });
  }
  return { ...result, entries };
}

async function decryptTxn(result: TxnResult, decrypt: Decrypt): Promise<TxnResult> {
  if (result.reads.length === 0) return result;
  return { ...result, reads: await Promise.all(result.reads.map(async (entry) => entry && decryptEntry(entry, decrypt))) };
}

/** Synchronous: the seeds of all values in memory are cached. */
function syncValueAt(store: Store, transformer: () => Transformer, at: { key: string; modRevision: number }): Uint8Array | undefined {
  const value = store.valueAt!(at.key, at.modRevision);
  if (value === undefined) return undefined;
  const result = decrypted(transformer(), at.key, value);
  if (!isPromise(result)) return result.bytes;
  result.catch(() => {});
  throw undecryptable(at.key, new Error('the encryption key of the value is not configured'));
}

/** A value to be stored. Encrypted once, when its bytes are first needed. */
class EncryptedValue implements LazyValue {
  #bytes: Buffer | undefined;

  constructor(
    readonly plain: Uint8Array | LazyValue,
    private readonly key: string,
    private readonly transformer: Transformer,
  ) {}

  get bytes(): Buffer {
    const plain = bytesOf(this.plain);
    this.#bytes ??= this.transformer.encrypt(Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength), this.key);
    return this.#bytes;
  }

  get mostBytes(): number {
    return (this.plain instanceof Uint8Array ? this.plain.length : this.plain.mostBytes) + OVERHEAD_BYTES;
  }
}

/** Encrypts at once for remote stores: an encryption failure must fail the write, not the store. */
function encryptTxn(request: TxnRequest, transformer: Transformer): TxnRequest {
  return { ...request, write: request.write.map((operation) => encryptOperation(operation, transformer)) };
}

function encryptOperation(operation: Operation, transformer: Transformer): Operation {
  if (operation.type !== 'put') return operation;
  const value = new EncryptedValue(operation.value, operation.key, transformer);
  try {
    void value.bytes;
  } catch (error) {
    throw StatusError.internalError(new Error(`unable to encrypt "${operation.key}": ${(error as Error).message}`, { cause: error }));
  }
  return { ...operation, value };
}

interface Decryption {
  readonly sink: WatchSink;
  readonly decrypt: Decrypt;
}

/** Batches are delivered in order; one that waits for a key blocks those after it. */
function watchDecrypted(store: Store, options: WatchOptions, { sink, decrypt }: Decryption): WatchHandle {
  let pending: Promise<void> | undefined;
  let isOver = false;
  const fail = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    handle.cancel();
    sink.end({ code: 'failed', error });
  };
  const inOrder = (step: () => MaybePromise<void>) => {
    const run = () => (isOver ? undefined : step());
    try {
      const result = pending === undefined ? run() : pending.then(run);
      if (!isPromise(result)) return;
      const settled: Promise<void> = result.catch(fail).finally(() => {
        if (pending === settled) pending = undefined;
      });
      pending = settled;
    } catch (error) {
      fail(error);
    }
  };
  const handle = store.watch(options, {
    events: (batch, revision) =>
      inOrder(() => {
        const opened = batch.map((event) => openEvent(event, decrypt));
        if (!opened.some((event) => isPromise(event))) return sink.events(opened as WatchEvent[], revision);
        return Promise.all(opened).then((events) => (isOver ? undefined : sink.events(events, revision)));
      }),
    progress: (revision) => inOrder(() => sink.progress(revision)),
    end: (reason) => inOrder(() => sink.end(reason)),
  });
  return {
    cancel: () => {
      isOver = true;
      handle.cancel();
    },
    requestProgress: () => handle.requestProgress(),
    [Symbol.dispose]: () => {
      isOver = true;
      handle[Symbol.dispose]();
    },
  };
}

/** Values written by this process are not decrypted again. */
function openEvent(event: WatchEvent, decrypt: Decrypt): MaybePromise<WatchEvent> {
  if (event.type === 'delete') return event;
  const { written } = event;
  if (written instanceof EncryptedValue) return new OwnEvent(event, written.plain);
  const opened = decrypt(event.key, event.value!);
  if (isPromise(opened)) return opened.then(({ bytes }) => ({ ...event, value: bytes, written: undefined }));
  return { ...event, value: opened.bytes, written: undefined };
}

/** Encoded on demand. */
class OwnEvent implements WatchEvent {
  readonly type = 'put';
  readonly key: string;
  readonly written: LazyValue | undefined;
  readonly prevValue = undefined;
  readonly modRevision: number;
  readonly createRevision: number;
  readonly version: number;
  readonly lease: WatchEvent['lease'];

  constructor(
    { key, modRevision, createRevision, version, lease }: WatchEvent,
    private readonly plain: Uint8Array | LazyValue,
  ) {
    this.key = key;
    this.written = plain instanceof Uint8Array ? undefined : plain;
    this.modRevision = modRevision;
    this.createRevision = createRevision;
    this.version = version;
    this.lease = lease;
  }

  get value(): Uint8Array {
    return bytesOf(this.plain);
  }
}
