/**
 * A value whose bytes are made when they are first needed, and are the same each time. An engine that keeps values in the heap may never need them:
 * in a cluster that lives in one process, hardly anybody reads what is stored as text.
 */
export interface LazyValue {
  readonly bytes: Uint8Array;
  /** They are no more than this; known without making them, and at most a few times too much. */
  readonly mostBytes: number;
}

export function bytesOf(value: Uint8Array | LazyValue): Uint8Array {
  return value instanceof Uint8Array ? value : value.bytes;
}
