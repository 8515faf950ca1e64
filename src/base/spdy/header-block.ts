import { constants, inflateRawSync } from 'node:zlib';
import { pushAll } from '../long-lists.ts';
import { DICTIONARY_ID, HEADER_DICTIONARY } from './header-dictionary.ts';
import { SpdyError } from './spdy-error.ts';

export type SpdyHeaders = ReadonlyMap<string, string>;

/** The maximum uncompressed header block. */
export const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADERS = 256;
const WINDOW_BYTES = 32 * 1024;
const ZLIB_HEADER = Buffer.from([0x78, 0xbb]);
const SYNC_MARK = Buffer.from([0, 0, 0xff, 0xff]);

/**
 * Decodes the header blocks of one direction. They are one zlib stream that is flushed after each block, so that between blocks its state is just the
 * text so far: kept here instead of a zlib object, which would take forty times the memory. A string, since a short buffer keeps a whole slab alive.
 */
export class HeaderReader {
  /** After the dictionary. Latin-1. */
  #history: string | undefined;

  read(block: Buffer): Map<string, string> {
    return parseHeaders(this.#inflate(block));
  }

  #inflate(block: Buffer): Buffer {
    const before = this.#history ?? '';
    const data = this.#history === undefined ? withoutZlibHeader(block) : block;
    const text = inflate(data, lastOf(Buffer.concat([HEADER_DICTIONARY, Buffer.from(before, 'latin1')])));
    this.#history = lastOf(Buffer.concat([Buffer.from(before, 'latin1'), text])).toString('latin1');
    return text;
  }
}

function lastOf(text: Buffer): Buffer {
  return text.length > WINDOW_BYTES ? text.subarray(text.length - WINDOW_BYTES) : text;
}

function inflate(data: Buffer, dictionary: Buffer): Buffer {
  try {
    return inflateRawSync(data, { dictionary, finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_HEADER_BYTES, chunkSize: 4096 });
  } catch (error) {
    throw new SpdyError('protocolError', `a header block cannot be decompressed: ${(error as Error).message}`);
  }
}

function withoutZlibHeader(block: Buffer): Buffer {
  if (block.length < 2 || (block[0]! & 0x0f) !== 8 || block.readUInt16BE(0) % 31 !== 0)
    throw new SpdyError('protocolError', 'the first header block is not compressed with zlib');
  if ((block[1]! & 0x20) === 0) return block.subarray(2);
  if (block.length < 6 || block.readUInt32BE(2) !== DICTIONARY_ID)
    throw new SpdyError('protocolError', 'headers are compressed with an unknown dictionary');
  return block.subarray(6);
}

function parseHeaders(text: Buffer): Map<string, string> {
  let at = 0;
  const number = () => {
    if (at + 4 > text.length) throw new SpdyError('protocolError', 'a header block ends too early');
    const value = text.readUInt32BE(at);
    at += 4;
    return value;
  };
  const string = () => {
    const length = number();
    if (length > text.length - at) throw new SpdyError('protocolError', 'a header is longer than its block');
    at += length;
    return text.toString('latin1', at - length, at);
  };
  const count = number();
  if (count > MAX_HEADERS) throw new SpdyError('protocolError', `a header block with ${count} headers`);
  const headers = new Map<string, string>();
  for (let i = 0; i < count; i++) {
    const name = string().toLowerCase();
    if (name === '' || headers.has(name)) throw new SpdyError('protocolError', 'a header name that is empty or not unique');
    headers.set(name, string());
  }
  return headers;
}

/** Encodes the header blocks of one direction, stored uncompressed in a zlib stream: they are small and few. */
export class HeaderWriter {
  #isFirst = true;

  write(headers: SpdyHeaders): Buffer {
    const text = serializeHeaders(headers);
    if (text.length > MAX_HEADER_BYTES) throw new RangeError(`headers of ${text.length} bytes are too large`);
    const parts: Buffer[] = [];
    if (this.#isFirst) parts.push(ZLIB_HEADER, numberBytes(DICTIONARY_ID));
    this.#isFirst = false;
    for (let at = 0; at < text.length; at += 0xffff) pushAll(parts, storedBlock(text.subarray(at, at + 0xffff)));
    parts.push(Buffer.from([0]), SYNC_MARK);
    return Buffer.concat(parts);
  }
}

function storedBlock(text: Buffer): readonly Buffer[] {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(text.length, 1);
  head.writeUInt16LE(~text.length & 0xffff, 3);
  return [head, text];
}

function serializeHeaders(headers: SpdyHeaders): Buffer {
  const parts = [numberBytes(headers.size)];
  for (const [name, value] of headers)
    for (const text of [name.toLowerCase(), value]) {
      const bytes = Buffer.from(text, 'latin1');
      parts.push(numberBytes(bytes.length), bytes);
    }
  return Buffer.concat(parts);
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
