import { goQuote, StatusError } from '#machinery';

/** Parses a resource version from a query. Empty means the most recent. */
export function parseResourceVersion(text: string, current: number): number | undefined {
  if (text === '') return undefined;
  // Upstream returns 500.
  if (!isResourceVersion(text)) throw new Error(malformedResourceVersion(text));
  const version = Number(text);
  if (version > current) throw tooLargeResourceVersion(version, current);
  return version;
}

export function isResourceVersion(text: string): boolean {
  return parseUintError(text) === undefined;
}

export function malformedResourceVersion(text: string): string {
  return `resourceVersion: Invalid value: ${goQuote(text)}: ${parseUintError(text)}`;
}

const MAX_UINT64 = 2n ** 64n - 1n;

/** The error of Go's ParseUint. */
export function parseUintError(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`;
  const isLarge = text.length > 19 && BigInt(text) > MAX_UINT64;
  return isLarge ? `strconv.ParseUint: parsing ${goQuote(text)}: value out of range` : undefined;
}

/** The client has seen a later state than this server: it should retry. */
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
