/** A file in a tar archive. Its content must be read before the next entry, or is skipped. */
export interface TarEntry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly linkName: string;
  readonly content: AsyncIterable<Buffer>;
}

export class TarError extends Error {
  override readonly name = 'TarError';
}

const BLOCK = 512;
/** The limit for headers that carry long names. */
const MAX_EXTENSION_BYTES = 1 << 20;
/** Linux' PATH_MAX: readers keep the names of all entries. */
const MAX_NAME_LENGTH = 4096;
/** Headers before one entry; an archive could have nothing else. */
const MAX_EXTENSIONS = 16;

/** The entries of an archive in their order: ustar, with the extensions of POSIX (pax) and GNU for long names and sizes. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(source);
  let extension: Extension = {};
  let extensions = 0;
  for (;;) {
    const block = await bytes.take(BLOCK);
    if (block === undefined || block.every((byte) => byte === 0)) return bytes.drain();
    const header = parseHeader(block);
    if (EXTENSION_FLAGS.has(header.flag) && ++extensions > MAX_EXTENSIONS) throw new TarError('an entry has too many extended headers');
    if (header.flag === 'x' || header.flag === 'L' || header.flag === 'K') {
      extension = { ...extension, ...(await readExtension(header, bytes)) };
    } else if (header.flag === 'g') await bytes.skip(padded(header.size));
    else {
      const size = extension.size ?? header.size;
      const body = bytes.section(size);
      yield {
        name: extension.name ?? header.name,
        type: TYPES.get(header.flag) ?? 'other',
        size,
        linkName: extension.linkName ?? header.linkName,
        content: body.content(),
      };
      await bytes.skip(body.left() + padded(size) - size);
      extension = {};
      extensions = 0;
    }
  }
}

const EXTENSION_FLAGS: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

const TYPES: ReadonlyMap<string, TarEntry['type']> = new Map([
  ['0', 'file'],
  ['\0', 'file'],
  ['7', 'file'],
  ['5', 'directory'],
  ['2', 'symlink'],
]);

interface Extension {
  readonly name?: string;
  readonly linkName?: string;
  readonly size?: number;
}

interface Header extends Required<Extension> {
  readonly flag: string;
}

function parseHeader(block: Buffer): Header {
  const checksum = parseNumber(block.subarray(148, 156));
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += block[i]!;
  if (sum !== checksum) throw new TarError('not a tar archive: the checksum of a header is wrong');
  const isUstar = block.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar && block[263] !== 0x20 ? textOf(block.subarray(345, 500)) : '';
  const name = textOf(block.subarray(0, 100));
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: parseNumber(block.subarray(124, 136)),
    flag: String.fromCharCode(block[156]!),
    linkName: textOf(block.subarray(157, 257)),
  };
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

/** Octal digits, or GNU's base-256 form (leading byte 0x80) for larger values. */
function parseNumber(bytes: Buffer): number {
  let value: number;
  if (bytes[0] === 0x80) value = Number(bytes.readBigUInt64BE(bytes.length - 8));
  else {
    const digits = textOf(bytes).trim();
    value = /^[0-7]*$/.test(digits) ? Number.parseInt(digits || '0', 8) : Number.NaN;
  }
  if (!Number.isSafeInteger(value)) throw new TarError('not a tar archive: a header holds no number where one belongs');
  return value;
}

async function readExtension({ flag, size }: Header, bytes: ByteReader): Promise<Extension> {
  if (size > MAX_EXTENSION_BYTES) throw new TarError(`an extended header of ${size} bytes is too large`);
  const data = (await bytes.takeAll(padded(size))).subarray(0, size);
  const extension = flag === 'L' ? { name: textOf(data) } : flag === 'K' ? { linkName: textOf(data) } : parsePax(data);
  const { name = '', linkName = '' } = extension;
  if (name.length > MAX_NAME_LENGTH || linkName.length > MAX_NAME_LENGTH)
    throw new TarError(`a name is longer than ${MAX_NAME_LENGTH} characters`);
  return extension;
}

/** Records of `LENGTH KEY=VALUE\n`. */
function parsePax(data: Buffer): Extension {
  const extension: { -readonly [K in keyof Extension]: Extension[K] } = {};
  let at = 0;
  while (at < data.length) {
    const space = data.indexOf(0x20, at);
    const digits = data.toString('latin1', at, Math.max(at, space));
    const length = /^[1-9][0-9]{0,7}$/.test(digits) ? Number(digits) : Number.NaN;
    // Not a number, where there is no space: every record takes at least the bytes before its key.
    if (!(length > space - at && at + length <= data.length)) throw new TarError('an extended header is malformed');
    const record = data.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key === 'path') extension.name = value;
    else if (key === 'linkpath') extension.linkName = value;
    else if (key === 'size') extension.size = paxSize(value);
    at += length;
  }
  return extension;
}

function paxSize(value: string): number {
  const size = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new TarError('an extended header is malformed');
  return size;
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** Reads exact numbers of bytes from a stream. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Undefined at the end of the stream. */
  async take(length: number): Promise<Buffer | undefined> {
    if (!(await this.#fillBuffer())) return undefined;
    return this.takeAll(length);
  }

  async takeAll(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.#upTo(length)) parts.push(part);
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    for await (const _ of this.#upTo(length));
  }

  async drain(): Promise<void> {
    while (await this.#fillBuffer()) this.#rest = Buffer.alloc(0);
  }

  section(length: number): { content: () => AsyncGenerator<Buffer>; left: () => number } {
    let left = length;
    const upTo = (most: number) => this.#upTo(most);
    return {
      left: () => left,
      async *content() {
        for await (const part of upTo(left)) {
          left -= part.length;
          yield part;
        }
      },
    };
  }

  async *#upTo(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (!(await this.#fillBuffer())) throw new TarError('the archive is cut off');
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async #fillBuffer(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#source.next();
      if (done) return false;
      this.#rest = value;
    }
    return true;
  }
}
