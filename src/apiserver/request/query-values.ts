import { goQuote, StatusError } from '#machinery';

const MAX_INT64 = 2n ** 63n - 1n;

/** A flag in a query: anything but absence, `false` and `0` sets it. Undefined when it is absent. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
}

/** An integer in a query; undefined when it is absent. Throws the StatusError that a server answers for anything else. */
export function queryInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const why = !/^[+-]?\d+$/.test(text) ? 'invalid syntax' : isInt64(text) ? undefined : 'value out of range';
  if (why !== undefined) throw StatusError.badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`);
  return Number(text);
}

function isInt64(text: string): boolean {
  const value = BigInt(text.replace('+', ''));
  return value <= MAX_INT64 && value >= -MAX_INT64 - 1n;
}
