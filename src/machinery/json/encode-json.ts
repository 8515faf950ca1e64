import { encodeDeepJson } from './encode-deep-json.ts';
import type { JsonValue } from './json-value.ts';

/** Encodes a value as JSON text, however deep. Integers held as bigint are written as plain digits; undefined members are left out. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // JSON.stringify rejects bigints and overflows the stack on deep values. Both are rare, so they are handled when it throws.
    const isBeyond = error instanceof RangeError || (error instanceof TypeError && /BigInt/.test(error.message));
    if (isBeyond) return encodeDeepJson(value as JsonValue | undefined);
    throw error;
  }
}
