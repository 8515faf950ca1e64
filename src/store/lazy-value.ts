/**
 * A value whose bytes are made when they are first needed, and are the same each time. An engine that keeps values in the heap may never need them:
 * in a cluster that lives in one process, hardly anybody reads what is stored as text.
 */
export interface LazyValue {
  readonly bytes: Uint8Array;
  /** Upper bound of the encoded size, known without encoding; at most a few times too large. */
  readonly mostBytes: number;
}

export function bytesOf(value: Uint8Array | LazyValue): Uint8Array {
  return value instanceof Uint8Array ? value : value.bytes;
}
