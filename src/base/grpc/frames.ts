import { GrpcError, grpcStatus } from './grpc-error.ts';

const HEAD_BYTES = 5;
/** Larger messages are errors, in both directions; what grpc servers of the node send at most. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 << 20;

/** A message as gRPC sends it: uncompressed, its length before it. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD_BYTES);
  return framed;
}

/** Cuts a stream of bytes into messages. Holds at most one incomplete message. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes that make the next message complete. */
  #needed = HEAD_BYTES;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether what came ends between two messages. */
  get isComplete(): boolean {
    return this.#length === 0;
  }

  /** The messages that are complete with `chunk`. Throws a GrpcError for what is no frame, or is too large. */
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
