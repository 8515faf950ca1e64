import type { Http2Session } from 'node:http2';
import { type Clock, realClock, type TimerHandle } from '#base';

interface Use {
  open: number;
  /** The round in which it was last used. */
  round: number;
}

const ROUNDS = 4;

/**
 * Closes idle HTTP/2 connections, including those of clients that violated the protocol. Checked in rounds: Node's own session timeout
 * costs work on every frame.
 */
export class IdleSessions {
  readonly #uses = new Map<Http2Session, Use>();
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #clock: Clock = realClock;
  #round = 0;
  #timer: TimerHandle | undefined;
  #isStopped = false;

  constructor(private readonly afterMs: number) {}

  add(session: Http2Session): void {
    this.#uses.set(session, { open: 0, round: this.#round });
    session.once('close', () => this.#uses.delete(session));
    this.#wait();
  }

  begin(session: Http2Session): void {
    const use = this.#uses.get(session);
    if (use !== undefined) use.open++;
  }

  end(session: Http2Session): void {
    const use = this.#uses.get(session);
    if (use === undefined) return;
    use.open--;
    use.round = this.#round;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(): void {
    if (!this.#isStopped) this.#timer ??= this.#clock.setTimer(this.afterMs / ROUNDS, () => this.#closeIdle());
  }

  #closeIdle(): void {
    this.#timer = undefined;
    this.#round++;
    for (const [session, { open, round }] of this.#uses) if (open === 0 && this.#round - round > ROUNDS) session.close();
    if (this.#uses.size > 0) this.#wait();
  }
}
