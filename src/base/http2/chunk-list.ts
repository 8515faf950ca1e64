/** Smaller chunks are joined when there are as many of them: as objects they take more memory than their bytes. */
const SMALL_BYTES = 1024;
const JOIN_COUNT = 64;

/** A body in the pieces in which it arrived. */
export class ChunkList {
  readonly chunks: Buffer[] = [];
  #bytes = 0;
  /** Small chunks at the end. */
  #small = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.chunks.push(chunk);
    this.#small = chunk.length < SMALL_BYTES ? this.#small + 1 : 0;
    if (this.#small < JOIN_COUNT) return;
    const last = this.chunks.splice(-JOIN_COUNT);
    this.chunks.push(Buffer.concat(last));
    this.#small = 0;
  }

  /** Without a copy where there is one chunk. */
  whole(): Buffer {
    return this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
  }

  clear(): void {
    this.chunks.length = 0;
    this.#bytes = 0;
    this.#small = 0;
  }
}
