/** A reused buffer. */
export class FixedBuffer {
  used = 0;

  constructor(readonly buffer: Buffer) {}

  get room(): number {
    return this.buffer.length - this.used;
  }

  /** Yields the buffer each time it is full. */
  *add(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.buffer, this.used, at);
      at += copied;
      this.used += copied;
      if (this.room > 0) continue;
      yield this.buffer;
      this.used = 0;
    }
  }
}
