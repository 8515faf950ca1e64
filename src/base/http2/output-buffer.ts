import { FRAME_HEAD_BYTES } from './protocol.ts';

const FIRST_BYTES = 32 * 1024;
/** What the pool keeps at most. */
const POOL_BYTES = 4 * 1024 * 1024;

/** Buffers that writes have done with, for all connections of a server: an idle connection holds none. */
export class BufferPool {
  readonly #free: Buffer[] = [];
  #bytes = 0;

  take(): Buffer {
    const buffer = this.#free.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#bytes -= buffer.length;
    return buffer;
  }

  release(buffer: Buffer): void {
    if (this.#bytes + buffer.length > POOL_BYTES) return;
    this.#free.push(buffer);
    this.#bytes += buffer.length;
  }
}

const EMPTY = Buffer.alloc(0);

/** Frames of one connection that wait for its next write. */
export class OutputBuffer {
  bytes: Buffer = EMPTY;
  length = 0;

  constructor(private readonly pool: BufferPool) {}

  /** Makes room for so many more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const old = this.bytes;
    let grown = old === EMPTY ? this.pool.take() : Buffer.allocUnsafeSlow(2 * old.length);
    while (grown.length < needed) grown = Buffer.allocUnsafeSlow(Math.max(2 * grown.length, needed));
    if (this.length > 0) old.copy(grown, 0, 0, this.length);
    if (old !== EMPTY) this.pool.release(old);
    this.bytes = grown;
  }

  /** Returns the whole buffer, of which `length` bytes are used, and starts another. The caller returns it to the pool. */
  detach(): Buffer {
    const { bytes } = this;
    this.bytes = EMPTY;
    this.length = 0;
    return bytes;
  }

  /** Writes the head of a frame, with room for its payload. */
  frameHead(type: number, flags: number, { streamId, length }: { readonly streamId: number; readonly length: number }): void {
    this.reserve(FRAME_HEAD_BYTES + length);
    const { bytes } = this;
    const at = this.length;
    this.setFrameLength(at, length);
    bytes[at + 3] = type;
    bytes[at + 4] = flags;
    this.length = at + 5;
    this.uint32(streamId);
  }

  /** Of the frame that begins there, when its length was not yet known. */
  setFrameLength(at: number, length: number): void {
    const { bytes } = this;
    bytes[at] = length >> 16;
    bytes[at + 1] = length >> 8;
    bytes[at + 2] = length;
  }

  /** There must be room for it. */
  uint32(value: number): void {
    const { bytes, length: at } = this;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >> 16;
    bytes[at + 2] = value >> 8;
    bytes[at + 3] = value;
    this.length = at + 4;
  }

  /** An integer of RFC 7541 whose first byte it shares with `flags`. There must be room for it. */
  prefixed(value: number, mask: number, flags: number): void {
    const { bytes } = this;
    if (value < mask) {
      bytes[this.length++] = flags | value;
      return;
    }
    bytes[this.length++] = flags | mask;
    let left = value - mask;
    for (; left >= 0x80; left >>>= 7) bytes[this.length++] = (left & 0x7f) | 0x80;
    bytes[this.length++] = left;
  }

  /** There must be room for them. */
  copy(source: Buffer, from: number, to: number): void {
    if (from === 0 && to === source.length) this.bytes.set(source, this.length);
    else source.copy(this.bytes, this.length, from, to);
    this.length += to - from;
  }
}
