import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { unitOrder } from '../key-order.ts';
import { newFile } from '../new-file.ts';
import type { Entry } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { ChangeLog } from './change-log.ts';
import { emptyState, type LeaseRecord, type MemoryChange, type MemoryState } from './memory-state.ts';
import { PersistentMap } from './persistent-map.ts';

/**
 * The file: this line, then a JSON line with the state's numbers and leases, then for each entry a JSON line and its bytes, and at the end
 * the SHA-256 of everything before it. History is not included.
 */
const MAGIC = 'sampan memory snapshot 1\n';
const HASH_BYTES = 32;
const CHUNK_BYTES = 1 << 20;

interface Header {
  readonly revision: number;
  readonly nextLease: number;
  readonly entries: number;
  readonly leases: readonly Omit<LeaseRecord, 'keys'>[];
}

type EntryHead = Omit<Entry, 'value'> & { readonly bytes: number };

/** Writes the state, in chunks, so that the event loop is not blocked; returns the size of the file. */
export async function writeSnapshot(file: string, state: MemoryState, signal: AbortSignal | undefined): Promise<number> {
  return newFile(file, async (temporary) => {
    await using handle = await open(temporary, 'wx', 0o600);
    const hash = createHash('sha256');
    let size = 0;
    for (const chunk of chunks(state)) {
      signal?.throwIfAborted();
      hash.update(chunk);
      size += (await handle.write(chunk)).bytesWritten;
    }
    size += (await handle.write(hash.digest())).bytesWritten;
    await handle.sync();
    return size;
  });
}

function* chunks(state: MemoryState): Generator<Buffer> {
  const entries: Entry[] = [];
  state.keys.visit(undefined, (_, entry) => entries.push(entry) > 0);
  let parts: Uint8Array[] = [Buffer.from(`${MAGIC}${JSON.stringify(headerOf(state))}\n`)];
  let bytes = 0;
  for (const { value, ...head } of entries) {
    const line = Buffer.from(`${JSON.stringify({ ...head, bytes: value.length } satisfies EntryHead)}\n`);
    parts.push(line, value);
    bytes += line.length + value.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  yield Buffer.concat(parts);
}

function headerOf(state: MemoryState): Header {
  const leases: Header['leases'][number][] = [];
  state.leases.visit(undefined, (_, { id, ttlSeconds, expiresAt }) => leases.push({ id, ttlSeconds, expiresAt }) > 0);
  return { revision: state.revision, nextLease: state.nextLease, entries: state.keys.size, leases };
}

export async function readSnapshot(file: string): Promise<MemoryState> {
  const content = await readFile(file);
  const end = content.length - HASH_BYTES;
  if (!content.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) throw new StoreError('corrupt', `${file} is no memory snapshot`);
  const hash = createHash('sha256')
    .update(content.subarray(0, Math.max(0, end)))
    .digest();
  if (!hash.equals(content.subarray(end))) throw new StoreError('corrupt', `${file} is damaged: its checksum does not match`);
  const reader = new LineReader(content, MAGIC.length);
  const header = reader.json() as Header;
  const empty = emptyState();
  let { keys } = empty;
  for (let i = 0; i < header.entries; i++) {
    const { bytes, ...head } = reader.json() as EntryHead;
    keys = keys.set(head.key, { ...head, lease: head.lease, value: reader.bytes(bytes) });
  }
  const history = ChangeLog.after<MemoryChange>(header.revision);
  return { ...empty, ...header, compactRevision: header.revision, keys, history, leases: leasesOf(header, keys) };
}

function leasesOf(header: Header, keys: MemoryState['keys']): MemoryState['leases'] {
  const attached = new Map<string, PersistentMap<string, true>>();
  keys.visit(undefined, (key, { lease }) => {
    if (lease !== undefined) attached.set(lease, (attached.get(lease) ?? PersistentMap.empty<string, true>(unitOrder)).set(key, true));
    return true;
  });
  let { leases } = emptyState();
  for (const lease of header.leases) {
    leases = leases.set(lease.id, { ...lease, keys: attached.get(lease.id) ?? PersistentMap.empty(unitOrder) });
  }
  return leases;
}

class LineReader {
  readonly #content: Buffer;
  #at: number;

  constructor(content: Buffer, at: number) {
    this.#content = content;
    this.#at = at;
  }

  json(): unknown {
    const end = this.#content.indexOf(10, this.#at);
    const line = this.#content.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return JSON.parse(line);
  }

  bytes(length: number): Uint8Array {
    this.#at += length;
    return Uint8Array.prototype.slice.call(this.#content, this.#at - length, this.#at);
  }
}
