import { Duplex } from 'node:stream';

/** A connection within the process. */
export interface DuplexPair {
  readonly near: Duplex;
  readonly far: Duplex;
}

/**
 * Two ends of one connection with back-pressure: writes to one are read from the other. Unlike Node's own pair, destroying one end destroys the
 * other, as with sockets.
 */
export function duplexPair(): DuplexPair {
  const near = new PairEnd();
  const far = new PairEnd();
  near.connect(far);
  far.connect(near);
  return { near, far };
}

class PairEnd extends Duplex {
  #peer: PairEnd | undefined;
  /** The peer's write that waits until this end reads. */
  #waiting: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: true });
    // Users of an end observe the close; an unused end must not crash the process.
    this.on('error', () => {});
  }

  connect(peer: PairEnd): void {
    this.#peer = peer;
  }

  #take(chunk: Buffer, callback: () => void): void {
    if (this.push(chunk)) callback();
    else this.#waiting = callback;
  }

  override _read(): void {
    const callback = this.#waiting;
    this.#waiting = undefined;
    callback?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const peer = this.#peer!;
    if (peer.destroyed) done(new Error('the other end was closed'));
    else peer.#take(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    const peer = this.#peer!;
    if (!peer.destroyed) peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const peer = this.#peer!;
    this.#waiting?.();
    this.#waiting = undefined;
    done(error);
    // Buffered data may still be read; a destroyed end sends nothing more.
    if (!this.writableFinished || !peer.readableEnded) process.nextTick(() => peer.#closeAfterPeer());
  }

  #closeAfterPeer(): void {
    if (this.destroyed) return;
    if (this.#peer!.writableFinished) {
      // It ended properly: only writing fails from now on.
      if (this.readableEnded) this.destroy();
      else this.once('end', () => this.destroy());
    } else this.destroy();
  }
}
