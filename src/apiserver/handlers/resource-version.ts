import { StatusError } from '#machinery';

/** A resource version from a query, checked against what the store has reached. Empty means "whatever is newest". */
export function parseResourceVersion(text: string, current: number): number | undefined {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) throw StatusError.badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  const version = Number(text);
  if (version > current) throw tooLargeResourceVersion(version, current);
  return version;
}

/** The client has seen a later state than this server: it should come back, not be shown the past. */
export function tooLargeResourceVersion(version: number, current: number): StatusError {
  const message = `Too large resource version: ${version}, current: ${current}`;
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
  });
}

export function expiredResourceVersion(version: number, oldest: number): StatusError {
  return StatusError.expired(`too old resource version: ${version} (${oldest})`);
}
