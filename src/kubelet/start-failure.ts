/** A container did not start. `reason` is what its status shows as the reason for waiting. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';

  constructor(
    readonly reason: string,
    message: string,
    /** When to look again; undefined: after the usual back-off. */
    readonly retryAtMs?: number,
  ) {
    super(message);
  }
}
