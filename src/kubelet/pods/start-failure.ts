/** A container did not start. `reason` becomes its waiting reason. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';

  constructor(
    readonly reason: string,
    message: string,
    /** When to retry; undefined: after the usual backoff. */
    readonly retryAtMs?: number,
  ) {
    super(message);
  }
}
