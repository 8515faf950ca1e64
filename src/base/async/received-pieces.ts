import type { Readable } from 'node:stream';
import { ChunkList } from '../chunk-list.ts';

/** Shorter pieces are joined while the reader does not ask for more: each takes a hundred bytes beside its own, and keeps the read alive it is a part of. */
const SMALL_BYTES = 4096;

/** Passes on to a stream what a connection receives for it, as few pieces as its reader lets wait. To be told of each `read` of the stream. */
export class ReceivedPieces {
  #waiting: ChunkList | undefined;
  #isWanted = false;

  constructor(private readonly stream: Readable) {}

  /** Bytes that nobody has read. */
  get unreadBytes(): number {
    return this.stream.readableLength + (this.#waiting?.bytes ?? 0);
  }

  /** Returns whether the stream takes more. */
  add(chunk: Buffer): boolean {
    if (!this.#isWanted && chunk.length < SMALL_BYTES) {
      this.#waiting ??= new ChunkList();
      // A piece of its own, so that the first one is copied too.
      if (this.#waiting.bytes === 0) this.#waiting.push(Buffer.from(chunk));
      else this.#waiting.push(chunk);
      return this.unreadBytes < this.stream.readableHighWaterMark;
    }
    this.#isWanted = false;
    this.#pass();
    return this.stream.push(chunk);
  }

  /** The reader asks for more. */
  read(): void {
    this.#isWanted = this.#waiting === undefined;
    this.#pass();
  }

  end(): void {
    this.#pass();
    this.stream.push(null);
  }

  #pass(): void {
    const pieces = this.#waiting?.pieces() ?? [];
    this.#waiting = undefined;
    for (const piece of pieces) this.stream.push(piece);
  }
}
