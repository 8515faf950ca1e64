import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

const BLOCK_BYTES = 64 * 1024;
/** Longer lines are not log lines. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 10;
const ROTATED = /^\.\d{8}-\d{6}(?:\.gz)?$/;

/** The rotated files of a log, oldest first, without the current one. Their names end with the rotation time. */
export async function rotatedFiles(current: string): Promise<readonly string[]> {
  const [directory, name] = [path.dirname(current), path.basename(current)];
  const names = await readdir(directory).catch(() => []);
  const rotated = names.filter((file) => file.startsWith(name) && ROTATED.test(file.slice(name.length)));
  return rotated.sort().map((file) => path.join(directory, file));
}

/** Splits chunks into lines. Buffers incomplete lines and drops oversized ones. */
export class LineCutter {
  #rest: Buffer[] = [];
  #restLength = 0;
  #isTooLong = false;

  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(start, end)]);
      const isTooLong = this.#isTooLong;
      this.#rest = [];
      this.#restLength = 0;
      this.#isTooLong = false;
      if (!isTooLong) yield line;
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#restLength += rest.length;
    if (this.#restLength <= MAX_LINE_BYTES) this.#rest.push(Buffer.from(rest));
    else {
      this.#isTooLong = true;
      this.#rest = [];
    }
  }
}

/** The content of a rotated file, compressed or not. A deleted file is empty. */
export async function* readRotated(file: string): AsyncGenerator<Buffer> {
  try {
    const plain = createReadStream(file, { highWaterMark: BLOCK_BYTES });
    const bytes = file.endsWith('.gz') ? pipeline(plain, createGunzip(), () => {}) : plain;
    for await (const chunk of bytes) yield chunk as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

export async function countLines(chunks: AsyncIterable<Buffer>): Promise<number> {
  let count = 0;
  for await (const chunk of chunks) for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

export interface TailStart {
  readonly offset: number;
  /** The number of lines after the offset: fewer than requested if the file is shorter. */
  readonly lines: number;
}

/** The offset of the last `lines` lines of an open file. Reads only these. */
export async function tailStart(file: FileHandle, lines: number): Promise<TailStart> {
  let end = (await file.stat()).size;
  let lineCount = 0;
  if (lines === 0) return { offset: end, lines: 0 };
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  while (end > 0) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    for (let at = block.lastIndexOf(NEWLINE, bytesRead - 1); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      if (lineCount === lines) return { offset: start + at + 1, lines };
      lineCount++;
    }
    end = start;
  }
  return { offset: 0, lines: lineCount };
}

/** An open log file with its read position. */
export class LogFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  offset: number;

  private constructor(handle: FileHandle, offset: number) {
    this.#handle = handle;
    this.offset = offset;
  }

  /** Undefined when there is no such file. */
  static async open(file: string): Promise<LogFile | undefined> {
    try {
      return new LogFile(await open(file, 'r'), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async seekTail(lines: number): Promise<number> {
    const start = await tailStart(this.#handle, lines);
    this.offset = start.offset;
    return start.lines;
  }

  /** The next bytes; undefined at the current end. */
  async next(): Promise<Buffer | undefined> {
    const { bytesRead } = await this.#handle.read(this.#block, 0, BLOCK_BYTES, this.offset);
    if (bytesRead === 0) return undefined;
    this.offset += bytesRead;
    return Buffer.from(this.#block.subarray(0, bytesRead));
  }

  /** Whether this is still the file of that name, and was not truncated. */
  async isCurrent(identity: { readonly ino: number; readonly dev: number; readonly size: number }): Promise<boolean> {
    const { ino, dev } = await this.#handle.stat();
    return ino === identity.ino && dev === identity.dev && identity.size >= this.offset;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
