/**
 * A value that is encoded when its bytes are first needed. An engine that keeps values in memory may never need them:
 * in a cluster in one process, few readers need the encoded form.
 */
export interface LazyValue {
  readonly bytes: Uint8Array;
  /** Upper bound of the encoded size, known without encoding; at most a few times too large. */
  readonly mostBytes: number;
}

export function bytesOf(value: Uint8Array | LazyValue): Uint8Array {
  return value instanceof Uint8Array ? value : value.bytes;
}
