import { goParseIntError, StatusError } from '#machinery';

/** A flag in a query: anything but absence, `false` and `0` sets it. Undefined when it is absent. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
}

/** An integer in a query; undefined when it is absent. Throws the StatusError that a server answers for anything else. */
export function queryInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const why = goParseIntError(text);
  if (why !== undefined) throw StatusError.badRequest(why);
  return Number(text);
}
