import type { Clock, TimerHandle } from '../time/clock.ts';

/** What a client may still send of one request, and for how long. */
export const DISCARDED_BYTES = 4 * 1024 * 1024;
const DISCARDED_MS = 1000;
/** The limit per connection. Further requests are reset at once. */
const MAX_REQUESTS = 100;

interface DiscardedBody {
  /** How much more may come. */
  bytes: number;
  readonly untilMs: number;
}

/**
 * Requests whose responses were complete before their bodies. RFC 9113 says to reset such streams with NO_ERROR; but clients such as curl
 * then fail while they send, and do not show the response. So the rest of the body is read and dropped, up to a limit.
 */
export class DiscardedBodies {
  /** By stream, those that began first in front. */
  readonly #bodies = new Map<number, DiscardedBody>();
  #timer: TimerHandle | undefined;

  constructor(
    private readonly clock: Clock,
    /** Asks the client to send no more. */
    private readonly reset: (streamId: number) => void,
  ) {}

  /** Whether there is room for another one; if not, it is reset. */
  begin(streamId: number): boolean {
    if (this.#bodies.size >= MAX_REQUESTS) {
      this.reset(streamId);
      return false;
    }
    this.#bodies.set(streamId, { bytes: DISCARDED_BYTES, untilMs: this.clock.monotonic() + DISCARDED_MS });
    this.#timer ??= this.clock.setTimer(DISCARDED_MS, () => this.#expire());
    return true;
  }

  receive(streamId: number, { bytes, isEnd }: { readonly bytes: number; readonly isEnd: boolean }): void {
    const body = this.#bodies.get(streamId);
    if (body === undefined) return;
    body.bytes -= bytes;
    if (isEnd) this.end(streamId);
    else if (body.bytes <= 0) this.#giveUp(streamId);
  }

  /** The client has sent all, or sends no more. */
  end(streamId: number): void {
    this.#bodies.delete(streamId);
  }

  /** The connection is closed. */
  stop(): void {
    this.#timer?.cancel();
    this.#bodies.clear();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = this.clock.monotonic();
    for (const [streamId, { untilMs }] of this.#bodies) {
      if (untilMs <= now) this.#giveUp(streamId);
      else {
        this.#timer = this.clock.setTimer(untilMs - now, () => this.#expire());
        return;
      }
    }
  }

  #giveUp(streamId: number): void {
    this.#bodies.delete(streamId);
    this.reset(streamId);
  }
}
