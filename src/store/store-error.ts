export type StoreErrorCode =
  /** The request breaks a rule of the contract. */
  | 'invalid'
  /** A key, value or request is over its limit. */
  | 'too-large'
  /** A revision was asked for that the store has not reached. */
  | 'future-revision'
  | 'lease-not-found'
  /** The medium is full: nothing was written, reads go on. */
  | 'no-space'
  /** Another process holds the store. */
  | 'locked'
  /** The files are damaged, or not ours. */
  | 'corrupt'
  /** The files are of a version of the format that this program does not know. */
  | 'unsupported-format'
  /** Reading or writing the medium failed. */
  | 'io'
  /** The server can not be reached or does not answer; nothing was written. */
  | 'unavailable'
  /** The answer to a write was lost: it may or may not have happened. */
  | 'outcome-unknown'
  /** The server refuses who we are. */
  | 'denied'
  /** This engine can not do it. */
  | 'unsupported'
  | 'closed';

/** What can go wrong in a store, beside the expected negatives, which are return values. */
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
