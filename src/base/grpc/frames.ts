import { GrpcError, grpcStatus } from './grpc-error.ts';

const HEAD_BYTES = 5;
/** The maximum message size in both directions; node services send no larger ones. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 << 20;

/** A gRPC frame: an uncompressed message with its length. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD_BYTES);
  return framed;
}

/** Splits a byte stream into messages. Buffers at most one incomplete message. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes missing from the next message. */
  #needed = HEAD_BYTES;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the stream is between two messages. */
  get isComplete(): boolean {
    return this.#length === 0;
  }

  /** The messages completed by `chunk`. Throws a GrpcError for an invalid or oversized frame. */
  *take(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (;;) {
      this.#needed = rest.length < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + this.#lengthOf(rest);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
      if (rest.length < this.#needed) return;
      const message = rest.subarray(HEAD_BYTES, this.#needed);
      rest = rest.subarray(this.#needed);
      yield message;
    }
  }

  #lengthOf(head: Buffer): number {
    if (head[0] !== 0) throw new GrpcError(grpcStatus.internal, `malformed frame: compression flag ${head[0]}`);
    const length = head.readUInt32BE(1);
    if (length > this.#maxBytes)
      throw new GrpcError(grpcStatus.resourceExhausted, `received message larger than max (${length} vs. ${this.#maxBytes})`);
    return length;
  }
}
