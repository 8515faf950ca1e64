import { Duplex } from 'node:stream';

/** A connection within the process. */
export interface DuplexPair {
  readonly near: Duplex;
  readonly far: Duplex;
}

/**
 * Two ends of one connection: what is written to the one is read from the other, with back-pressure. Unlike Node's own pair, an end that is
 * destroyed takes the other with it, as sockets do.
 */
export function connectedPair(): DuplexPair {
  const near = new PairEnd();
  const far = new PairEnd();
  near.connect(far);
  far.connect(near);
  return { near, far };
}

class PairEnd extends Duplex {
  #peer: PairEnd | undefined;
  /** The peer's write that waits until this end is read. */
  #waiting: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: true });
    // Who uses an end sees that it was closed; who left one unused must not end the process.
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
    // What was written before may still be read; an end that was given up has nothing more to say.
    if (!this.writableFinished || !peer.readableEnded) process.nextTick(() => peer.#closeAfterPeer());
  }

  #closeAfterPeer(): void {
    if (this.destroyed) return;
    if (this.#peer!.writableFinished) {
      // It ended properly: only writing makes no sense any more.
      if (this.readableEnded) this.destroy();
      else this.once('end', () => this.destroy());
    } else this.destroy();
  }
}
