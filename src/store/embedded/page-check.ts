import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pushAll } from '#base';
import { StoreError } from '../store-error.ts';

/**
 * Reads an LMDB file without LMDB, which maps it into memory and crashes with a bus error when a part of it is missing. The layout is that of
 * LMDB's data version 2 (64 bit, little endian).
 */
const META_BYTES = 168;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const PAGE_HEAD_BYTES = 24;
const NODE_HEAD_BYTES = 8;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

const BRANCH = 0x01;
const LEAF = 0x02;
const BIG_DATA = 0x01;
const SUB_DATABASE = 0x02;

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
  /** The trees of free pages and of data. */
  readonly roots: readonly bigint[];
}

/**
 * Throws unless the file is complete. The meta pages are always checked; every page is if the file is shorter than they say (which LMDB
 * permits when the missing pages are free) or when `thorough`.
 */
export async function checkPages(file: string, thorough: boolean): Promise<void> {
  await using handle = await open(file, 'r');
  const meta = await readMeta(handle, file);
  const { size } = await handle.stat();
  const pages = Math.floor(size / meta.pageBytes);
  if (thorough || pages <= meta.lastPage) await new PageWalk({ handle, file, pages, pageBytes: meta.pageBytes }).check(meta.roots);
}

/** The two meta pages of a data file without concurrent commits, and its size. */
export function readHeads(dataFile: string): { readonly dataFile: string; readonly heads: Buffer; readonly sizeBytes: number } {
  const descriptor = openSync(dataFile, 'r');
  try {
    const pageBytes = parseMeta(readFully(descriptor, META_BYTES), dataFile).pageBytes;
    return { dataFile, heads: readFully(descriptor, 2 * pageBytes), sizeBytes: fstatSync(descriptor).size };
  } finally {
    closeSync(descriptor);
  }
}

function readFully(descriptor: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
}

function damaged(file: string, problem: string): StoreError {
  return new StoreError('corrupt', `${file} is damaged: ${problem}; restore it from a snapshot`);
}

async function readMeta(handle: FileHandle, file: string): Promise<Meta> {
  const first = parseMeta(await read(handle, 0, META_BYTES), file);
  const second = parseMeta(await read(handle, first.pageBytes, META_BYTES), file);
  return first.transaction > second.transaction ? first : second;
}

async function read(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function parseMeta(bytes: Buffer, file: string): Meta {
  if (bytes.length < META_BYTES) throw damaged(file, 'its head is cut off');
  if (bytes.readUInt32LE(24) !== MAGIC) throw damaged(file, 'its head is not that of a data file');
  const version = bytes.readUInt16LE(28);
  if (version !== DATA_VERSION) throw new StoreError('unsupported-format', `${file} has LMDB data version ${version}, not ${DATA_VERSION}`);
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) throw damaged(file, `its page size is ${pageBytes}`);
  return {
    pageBytes,
    lastPage: Number(bytes.readBigUInt64LE(144)),
    transaction: bytes.readBigUInt64LE(152),
    roots: [bytes.readBigUInt64LE(48 + 40), bytes.readBigUInt64LE(96 + 40)],
  };
}

interface Walk {
  readonly handle: FileHandle;
  readonly file: string;
  readonly pages: number;
  readonly pageBytes: number;
}

/** Visits every page that is in use. */
class PageWalk {
  readonly #walk: Walk;
  readonly #seen: Uint8Array;

  constructor(walk: Walk) {
    this.#walk = walk;
    this.#seen = new Uint8Array(walk.pages);
  }

  async check(roots: readonly bigint[]): Promise<void> {
    const todo = roots.filter((root) => root !== NO_PAGE);
    for (let number = todo.pop(); number !== undefined; number = todo.pop()) pushAll(todo, await this.#children(number));
  }

  async #children(number: bigint): Promise<bigint[]> {
    const page = await this.#page(number);
    const flags = page.readUInt16LE(18);
    if ((flags & (BRANCH | LEAF)) === 0) throw damaged(this.#walk.file, `page ${number} is no tree page`);
    const count = page.readUInt16LE(20) >> 1;
    const children: bigint[] = [];
    for (let i = 0; i < count; i++) pushAll(children, this.#ofNode(page, this.#node(page, i), flags));
    return children;
  }

  async #page(number: bigint): Promise<Buffer> {
    const { handle, file, pageBytes } = this.#walk;
    this.#claim(number, 1);
    const page = await read(handle, Number(number) * pageBytes, pageBytes);
    if (page.readBigUInt64LE(0) !== number) throw damaged(file, `page ${number} holds something else`);
    return page;
  }

  #claim(first: bigint, count: number): void {
    const { file, pages } = this.#walk;
    for (let number = first; number < first + BigInt(count); number++) {
      if (number >= BigInt(pages)) throw damaged(file, `page ${number} is missing, the file has ${pages}`);
      if (this.#seen[Number(number)] !== 0) throw damaged(file, `page ${number} is used twice`);
      this.#seen[Number(number)] = 1;
    }
  }

  /** The node's offset; throws when it is outside its page. */
  #node(page: Buffer, index: number): number {
    const at = PAGE_HEAD_BYTES + page.readUInt16LE(PAGE_HEAD_BYTES + 2 * index);
    if (at + NODE_HEAD_BYTES + (at + 8 <= page.length ? page.readUInt16LE(at + 6) : 0) > page.length) {
      throw damaged(this.#walk.file, `page ${page.readBigUInt64LE(0)} has a node outside of it`);
    }
    return at;
  }

  #ofNode(page: Buffer, at: number, pageFlags: number): bigint[] {
    const size = page.readUInt32LE(at);
    const flags = page.readUInt16LE(at + 4);
    if ((pageFlags & BRANCH) !== 0) return [BigInt(size) | (BigInt(flags) << 32n)];
    const data = at + NODE_HEAD_BYTES + page.readUInt16LE(at + 6);
    if ((flags & BIG_DATA) !== 0) this.#claim(page.readBigUInt64LE(data), Math.ceil((PAGE_HEAD_BYTES + size) / this.#walk.pageBytes));
    if ((flags & SUB_DATABASE) === 0) return [];
    const root = page.readBigUInt64LE(data + 40);
    return root === NO_PAGE ? [] : [root];
  }
}
