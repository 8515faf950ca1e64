import { copyFile, type FileHandle, open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { newFile } from '../new-file.ts';
import type { SnapshotInfo } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { makeDirectory, prepareDirectory, writeMark } from './directory.ts';
import { lockDirectory } from './directory-lock.ts';
import { DATA_FILE } from './tables.ts';

/** A snapshot is a copy of the data file, followed by a magic number, the revision, and the checksum of everything before it. */
const MARK = Buffer.from('sampan snapshot1');
const SUM_BYTES = 4;
const TRAILER_BYTES = MARK.length + 8 + SUM_BYTES;
const CHUNK_BYTES = 1 << 20;
/** Flushed in parts: a single large flush at the end would delay those of the store. */
const FLUSH_CHUNKS = 8;

/** The state of one moment. While its reader lives, LMDB overwrites no page of it; only the meta pages change, so they are kept here. */
export interface SnapshotSource {
  readonly dataFile: string;
  /** The first pages, as they were. */
  readonly heads: Buffer;
  readonly sizeBytes: number;
  readonly revision: number;
}

export interface SnapshotOptions {
  readonly signal: AbortSignal;
  /** Yields to other work. */
  pause(): Promise<void>;
}

export async function writeSnapshot(file: string, source: SnapshotSource, options: SnapshotOptions): Promise<SnapshotInfo> {
  return newFile(file, async (temporary) => {
    await using from = await open(source.dataFile, 'r');
    await using to = await open(temporary, 'wx', 0o600);
    const sum = await copyPages(from, to, { ...source, ...options });
    const trailer = Buffer.alloc(TRAILER_BYTES);
    MARK.copy(trailer);
    trailer.writeDoubleLE(source.revision, MARK.length);
    trailer.writeUInt32LE(crc32(trailer.subarray(0, -SUM_BYTES), sum), TRAILER_BYTES - SUM_BYTES);
    await to.write(trailer);
    await to.sync();
    return { revision: source.revision, sizeBytes: source.sizeBytes + TRAILER_BYTES };
  });
}

/** Returns the checksum of the copied bytes. */
async function copyPages(
  from: FileHandle,
  to: FileHandle,
  { heads, sizeBytes, signal, pause }: SnapshotSource & SnapshotOptions,
): Promise<number> {
  await to.write(heads);
  let sum = crc32(heads);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = heads.length, chunks = 1; at < sizeBytes; chunks++) {
    signal.throwIfAborted();
    const part = await readPart(from, chunk, { at, length: Math.min(CHUNK_BYTES, sizeBytes - at) });
    sum = crc32(part, sum);
    await to.write(part);
    at += part.length;
    if (chunks % FLUSH_CHUNKS === 0) await to.datasync();
    await pause();
  }
  return sum;
}

async function readPart(
  handle: FileHandle,
  chunk: Buffer,
  { at, length }: { readonly at: number; readonly length: number },
): Promise<Buffer> {
  const { bytesRead } = await handle.read(chunk, 0, length, at);
  if (bytesRead === 0) throw new StoreError('io', 'a file became shorter while it was read');
  return chunk.subarray(0, bytesRead);
}

/** The length of the data in a snapshot; throws unless it is complete. */
async function checkSnapshot(file: string): Promise<number> {
  await using handle = await open(file, 'r').catch((cause: Error) => {
    throw new StoreError('io', `can not read ${file}: ${cause.message}`, { cause });
  });
  const { size } = await handle.stat();
  const length = size - TRAILER_BYTES;
  const { buffer: trailer } = await handle.read(Buffer.alloc(TRAILER_BYTES), 0, TRAILER_BYTES, Math.max(0, length));
  if (length <= 0 || !trailer.subarray(0, MARK.length).equals(MARK))
    throw new StoreError('corrupt', `${file} is no snapshot, or is cut off`);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let sum = 0;
  for (let at = 0, end = size - SUM_BYTES; at < end; ) {
    const part = await readPart(handle, chunk, { at, length: Math.min(CHUNK_BYTES, end - at) });
    sum = crc32(part, sum);
    at += part.length;
  }
  if (sum !== trailer.readUInt32LE(TRAILER_BYTES - SUM_BYTES))
    throw new StoreError('corrupt', `${file} is damaged: its checksum does not match`);
  return length;
}

export interface RestoreOptions {
  readonly snapshot: string;
  /** Must not exist, or be empty. */
  readonly directory: string;
}

/** Restores a store from a snapshot of an embedded store. Open it afterwards. */
export async function restoreEmbeddedStore({ snapshot, directory }: RestoreOptions): Promise<void> {
  const length = await checkSnapshot(snapshot);
  await makeDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    if ((await prepareDirectory(directory, { thorough: false, purpose: 'restoring' })) !== 'new') {
      throw new StoreError('invalid', `${directory} holds a store already`);
    }
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
