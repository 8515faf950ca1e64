/** What a client may still send of one request. */
export const DISCARDED_BYTES = 4 * 1024 * 1024;
/** The limit per connection. Further requests are reset at once. */
const MAX_REQUESTS = 100;

/**
 * Requests whose responses were complete before their bodies. RFC 9113 says to reset such streams with NO_ERROR; but clients such as curl
 * then fail while they send, and do not show the response. So the rest of the body is read and dropped, up to a limit.
 */
export class DiscardedBodies {
  /** The remaining limit, by stream. */
  readonly #left = new Map<number, number>();

  /** Whether there is room for another one. */
  begin(streamId: number): boolean {
    if (this.#left.size >= MAX_REQUESTS) return false;
    this.#left.set(streamId, DISCARDED_BYTES);
    return true;
  }

  /** Whether that is more than the client may send. */
  isTooMuch(streamId: number, bytes: number): boolean {
    const before = this.#left.get(streamId);
    if (before === undefined) return false;
    if (before > bytes) this.#left.set(streamId, before - bytes);
    else this.#left.delete(streamId);
    return before <= bytes;
  }

  /** The body has ended. */
  end(streamId: number): void {
    this.#left.delete(streamId);
  }
}
