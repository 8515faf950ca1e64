import { StatusError } from '#machinery';

/** Bodies up to this size are not counted, so that large uploads do not block small writes. */
const FREE_BYTES = 64 * 1024;
const DEFAULT_LIMIT_BYTES = 256 * 1024 * 1024;

/** Limits the bytes of request bodies in memory over all connections. Beyond it, large bodies get 429. */
export class BodyBudget {
  #heldBytes = 0;

  constructor(private readonly limitBytes = DEFAULT_LIMIT_BYTES) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** For the body of one request. */
  lease(): BodyLease {
    let bytes = 0;
    let counted = 0;
    return {
      take: (more) => {
        bytes += more;
        const grown = Math.max(0, bytes - FREE_BYTES) - counted;
        if (grown > 0 && this.#heldBytes + grown > this.limitBytes)
          throw StatusError.tooManyRequests('Too many requests, please try again later.', 1);
        counted += grown;
        this.#heldBytes += grown;
      },
      release: () => {
        this.#heldBytes -= counted;
        bytes = 0;
        counted = 0;
      },
    };
  }
}

export interface BodyLease {
  /** Counts bytes that arrived. Throws a StatusError (429) when the budget is used up. */
  take(bytes: number): void;
  release(): void;
}
