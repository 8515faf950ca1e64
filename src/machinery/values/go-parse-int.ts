import { goQuote } from './go-format.ts';

const MAX_INT64 = 2n ** 63n - 1n;

/** The error text of Go's strconv.ParseInt; undefined for a decimal int64. */
export function goParseIntError(text: string): string | undefined {
  const detail = /^[+-]?\d+$/.test(text) ? (isInt64(text) ? undefined : 'value out of range') : 'invalid syntax';
  return detail && `strconv.ParseInt: parsing ${goQuote(text)}: ${detail}`;
}

function isInt64(text: string): boolean {
  const value = BigInt(text.replace('+', ''));
  return value <= MAX_INT64 && value >= -MAX_INT64 - 1n;
}
