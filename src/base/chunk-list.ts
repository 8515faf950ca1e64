/** Smaller chunks are copied: as objects, and with the received bytes that each is a part of, they take many times their length. */
const SMALL_BYTES = 4096;
const TAIL_BYTES = 2 * SMALL_BYTES;

/** A body in the pieces in which it arrived. */
export class ChunkList {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Copies of small chunks, in order; those before `#tailStart` are among the chunks already. */
  #tail: Buffer | undefined;
  #tailStart = 0;
  #tailEnd = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(bytes: Uint8Array): void {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const isFirst = this.#bytes === 0;
    this.#bytes += chunk.length;
    if (!isFirst && chunk.length < SMALL_BYTES) this.#copy(chunk);
    else {
      this.#closeTail();
      this.#chunks.push(chunk);
    }
  }

  #copy(chunk: Buffer): void {
    if (this.#tail === undefined || this.#tail.length - this.#tailEnd < chunk.length) {
      this.#closeTail();
      this.#tail = Buffer.allocUnsafeSlow(TAIL_BYTES);
      this.#tailStart = 0;
      this.#tailEnd = 0;
    }
    this.#tailEnd += chunk.copy(this.#tail, this.#tailEnd);
  }

  #closeTail(): void {
    if (this.#tailEnd > this.#tailStart) this.#chunks.push(this.#tail!.subarray(this.#tailStart, this.#tailEnd));
    this.#tailStart = this.#tailEnd;
  }

  /** What was pushed, in fewer pieces. */
  pieces(): readonly Buffer[] {
    this.#closeTail();
    return this.#chunks;
  }

  /** Without a copy where there is one piece. */
  whole(): Buffer {
    const pieces = this.pieces();
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#bytes = 0;
    this.#tail = undefined;
    this.#tailStart = 0;
    this.#tailEnd = 0;
  }
}
