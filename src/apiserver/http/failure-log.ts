import type { Clock, Logger } from '#base';
import { StatusError } from '#machinery';
import { StoreError, type StoreErrorCode } from '#store';

const QUIET_MS = 60_000;
const REMEMBERED = 100;

export interface FailedRequest {
  readonly method: string;
  readonly path: string;
}

/** Failures of a store that are no bugs: of the request, the medium or the server. */
const STORE_CONDITIONS: ReadonlySet<StoreErrorCode> = new Set(['too-large', 'no-space', 'unavailable', 'outcome-unknown', 'denied']);

/**
 * Logs requests that failed with a server error. Unexpected errors are logged with their stack; failures of other components, such as an
 * unreachable webhook or a full disk, in one line at most once a minute.
 */
export class FailureLog {
  readonly #lastLogged = new Map<string, number>();

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  write(error: unknown, request: FailedRequest): void {
    const condition = conditionOf(error);
    if (condition === undefined) this.logger.error('request failed', { ...request, error });
    else if (!this.#suppressRepeat(condition.message))
      this.logger.warn('request failed', { ...request, code: condition.code, reason: condition.message });
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

/** The answer to an error that is no bug. */
function conditionOf(error: unknown): StatusError | undefined {
  if (error instanceof StatusError) return error;
  return error instanceof StoreError && STORE_CONDITIONS.has(error.code) ? StatusError.from(error) : undefined;
}
