import { type Clock, realClock, type ServerConnection, type TimerHandle } from '#base';

interface Use {
  open: number;
  /** The round in which it was last used. */
  round: number;
}

const ROUNDS = 4;

/**
 * Closes idle HTTP/2 connections, and destroys those that stay idle because their client does not read. Checked in rounds: a timer per
 * connection would add work to every frame.
 */
export class IdleConnections {
  readonly #uses = new Map<ServerConnection, Use>();
  // Real time: peers are outside of the cluster's (possibly virtual) time.
  readonly #clock: Clock = realClock;
  #round = 0;
  #timer: TimerHandle | undefined;
  #isStopped = false;

  constructor(private readonly afterMs: number) {}

  add(connection: ServerConnection): void {
    this.#uses.set(connection, { open: 0, round: this.#round });
    connection.socket.once('close', () => this.#uses.delete(connection));
    this.#wait();
  }

  begin(connection: ServerConnection): void {
    const use = this.#uses.get(connection);
    if (use !== undefined) use.open++;
  }

  end(connection: ServerConnection): void {
    const use = this.#uses.get(connection);
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
    for (const [connection, { open, round }] of this.#uses) {
      if (open > 0 || this.#round - round <= ROUNDS) continue;
      if (connection.isClosing) connection.destroy();
      else connection.close();
    }
    if (this.#uses.size > 0) this.#wait();
  }
}
