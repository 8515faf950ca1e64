import { createHash, type Hash } from 'node:crypto';
import { copyFile, type FileHandle, open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { newFile } from '../new-file.ts';
import type { SnapshotInfo } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { makeDirectory, prepareDirectory, writeMark } from './directory.ts';
import { lockDirectory } from './directory-lock.ts';
import { lmdbError } from './lmdb-error.ts';
import { DATA_FILE, type Tables } from './tables.ts';

/** A snapshot is a compact copy of the data file, with this behind it: a mark, the revision, and the SHA-256 of all before the sum. */
const MARK = Buffer.from('sampan snapshot1');
const HASH_BYTES = 32;
const TRAILER_BYTES = MARK.length + 8 + HASH_BYTES;
const CHUNK_BYTES = 1 << 20;

/** Copies the tables as they are at one moment, on lmdb's thread while writes go on. `revisionIn` opens the copy to see which that was. */
export async function writeSnapshot(
  tables: Tables,
  file: string,
  options: { readonly revisionIn: (copy: string) => Promise<number>; readonly signal?: AbortSignal | undefined },
): Promise<SnapshotInfo> {
  return newFile(file, async (temporary) => {
    await rm(temporary, { force: true });
    await tables.root.backup(temporary, true).catch((cause: unknown) => {
      throw lmdbError(cause, `can not write ${file}`);
    });
    options.signal?.throwIfAborted();
    const revision = await options.revisionIn(temporary);
    const sizeBytes = await addTrailer(temporary, revision, options.signal);
    return { revision, sizeBytes };
  });
}

async function addTrailer(file: string, revision: number, signal: AbortSignal | undefined): Promise<number> {
  await using handle = await open(file, 'r+');
  const { size } = await handle.stat();
  const head = Buffer.alloc(MARK.length + 8);
  MARK.copy(head);
  head.writeDoubleLE(revision, MARK.length);
  const hash = await hashOf(handle, size, signal);
  await handle.write(Buffer.concat([head, hash.update(head).digest()]), 0, TRAILER_BYTES, size);
  await handle.sync();
  return size + TRAILER_BYTES;
}

async function hashOf(handle: FileHandle, length: number, signal?: AbortSignal): Promise<Hash> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; at < length; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK_BYTES, length - at), at);
    if (bytesRead === 0) throw new StoreError('io', 'a file became shorter while it was read');
    hash.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash;
}

/** The length of the data in a snapshot; throws unless it is whole. */
async function checkSnapshot(file: string): Promise<number> {
  await using handle = await open(file, 'r').catch((cause: Error) => {
    throw new StoreError('io', `can not read ${file}: ${cause.message}`, { cause });
  });
  const { size } = await handle.stat();
  const length = size - TRAILER_BYTES;
  const { buffer: trailer } = await handle.read(Buffer.alloc(TRAILER_BYTES), 0, TRAILER_BYTES, Math.max(0, length));
  if (length <= 0 || !trailer.subarray(0, MARK.length).equals(MARK))
    throw new StoreError('corrupt', `${file} is no snapshot, or is cut off`);
  const hash = await hashOf(handle, size - HASH_BYTES);
  if (!hash.digest().equals(trailer.subarray(-HASH_BYTES)))
    throw new StoreError('corrupt', `${file} is damaged: its checksum does not match`);
  return length;
}

export interface RestoreOptions {
  readonly snapshot: string;
  /** Must not exist, or be empty. */
  readonly directory: string;
}

/** Makes a store from what `snapshot` of an embedded store wrote. Open it afterwards. */
export async function restoreEmbeddedStore({ snapshot, directory }: RestoreOptions): Promise<void> {
  const length = await checkSnapshot(snapshot);
  await makeDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    if ((await prepareDirectory(directory, { thorough: false, purpose: 'restoring' })) !== 'new')
      throw new StoreError('invalid', `${directory} holds a store already`);
    await newFile(join(directory, DATA_FILE), async (temporary) => {
      await copyFile(snapshot, temporary);
      await truncate(temporary, length);
      await using handle = await open(temporary, 'r+');
      await handle.sync();
    });
    await writeMark(directory, 'made');
  } finally {
    await lock.release();
  }
}
