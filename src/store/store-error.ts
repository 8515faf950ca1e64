export type StoreErrorCode =
  /** The request breaks a rule of the contract. */
  | 'invalid'
  /** A key, value or request is over its limit. */
  | 'too-large'
  /** The requested revision is in the future. */
  | 'future-revision'
  | 'lease-not-found'
  /** The medium is full: nothing was written, reads go on. */
  | 'no-space'
  /** Another process holds the store. */
  | 'locked'
  /** The files are damaged, or not of this store. */
  | 'corrupt'
  /** The format version of the files is not supported. */
  | 'unsupported-format'
  /** Reading or writing the medium failed. */
  | 'io'
  /** The server is unreachable or does not respond; nothing was written. */
  | 'unavailable'
  /** The answer to a write was lost: it may or may not have happened. */
  | 'outcome-unknown'
  /** The server rejected the credentials. */
  | 'denied'
  /** This engine does not support it. */
  | 'unsupported'
  | 'closed';

/** An unexpected failure of a store; expected ones are return values. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function futureRevision(requested: number, current: number): StoreError {
  return new StoreError('future-revision', `revision ${requested} has not been reached; the store is at ${current}`);
}
