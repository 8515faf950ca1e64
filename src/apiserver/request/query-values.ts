import { goParseIntError, StatusError } from '#machinery';

/** A boolean query parameter: set unless `false` or `0`. Undefined when absent. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
}

/** An integer query parameter; undefined when absent. Throws a StatusError when malformed. */
export function queryInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const detail = goParseIntError(text);
  if (detail !== undefined) throw StatusError.badRequest(detail);
  return Number(text);
}
