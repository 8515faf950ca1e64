import type { RangeRequest } from './store.ts';

export interface KeyBounds {
  /** The first key that may be in the range. */
  readonly start: Buffer;
  /** The end, exclusive; undefined: unbounded. The range is empty unless it is after `start`. */
  readonly end: Buffer | undefined;
}

/** A range as bytes; `space` is the prefix of every key. */
export function keyBounds({ prefix = '', start = '', end }: Pick<RangeRequest, 'prefix' | 'start' | 'end'>, space = ''): KeyBounds {
  const endBytes = end === undefined ? undefined : Buffer.from(space + end);
  return { start: laterOf(Buffer.from(space + prefix), Buffer.from(space + start)), end: earlierOf(prefixEnd(space + prefix), endBytes) };
}

function laterOf(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) >= 0 ? a : b;
}

function earlierOf(a: Buffer | undefined, b: Buffer | undefined): Buffer | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Buffer.compare(a, b) <= 0 ? a : b;
}

/** The smallest bytes after every key with `prefix`. UTF-8 has no byte 255, so the last byte can always be incremented. */
function prefixEnd(prefix: string): Buffer | undefined {
  if (prefix === '') return undefined;
  const bytes = Buffer.from(prefix);
  bytes[bytes.length - 1]! += 1;
  return bytes;
}
