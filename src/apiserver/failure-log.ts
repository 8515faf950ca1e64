import type { Clock, Logger } from '#base';
import { StatusError } from '#machinery';

const QUIET_MS = 60_000;
const REMEMBERED = 100;

export interface FailedRequest {
  readonly method: string;
  readonly path: string;
}

/**
 * Writes down requests that failed for reasons of the server's own. What nobody foresaw is written with where it came from; what a part of the
 * cluster answered, such as a webhook that is away, in one line, and not again for a minute.
 */
export class FailureLog {
  readonly #told = new Map<string, number>();

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  write(error: unknown, request: FailedRequest): void {
    if (!(error instanceof StatusError)) this.logger.error('request failed', { ...request, error });
    else if (!this.#isRepeated(error.message)) this.logger.warn('request failed', { ...request, code: error.code, reason: error.message });
  }

  #isRepeated(message: string): boolean {
    const now = this.clock.monotonic();
    const last = this.#told.get(message);
    if (last !== undefined && now - last < QUIET_MS) return true;
    this.#told.delete(message);
    this.#told.set(message, now);
    if (this.#told.size > REMEMBERED) this.#told.delete(this.#told.keys().next().value!);
    return false;
  }
}
