import type { Clock, Logger } from '#base';
import { StatusError } from '#machinery';

const QUIET_MS = 60_000;
const REMEMBERED = 100;

export interface FailedRequest {
  readonly method: string;
  readonly path: string;
}

/**
 * Logs requests that failed with a server error. Unexpected errors are logged with their stack; failures of other components, such as an
 * unreachable webhook, in one line at most once a minute.
 */
export class FailureLog {
  readonly #lastLogged = new Map<string, number>();

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  write(error: unknown, request: FailedRequest): void {
    if (!(error instanceof StatusError)) this.logger.error('request failed', { ...request, error });
    else if (!this.#suppressRepeat(error.message))
      this.logger.warn('request failed', { ...request, code: error.code, reason: error.message });
  }

  /** Returns whether the message was logged within the last minute; records it otherwise. */
  #suppressRepeat(message: string): boolean {
    const now = this.clock.monotonic();
    const last = this.#lastLogged.get(message);
    if (last !== undefined && now - last < QUIET_MS) return true;
    this.#lastLogged.delete(message);
    this.#lastLogged.set(message, now);
    if (this.#lastLogged.size > REMEMBERED) this.#lastLogged.delete(this.#lastLogged.keys().next().value!);
    return false;
  }
}
