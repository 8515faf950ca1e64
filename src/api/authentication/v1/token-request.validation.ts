import { FieldError, Path } from '#machinery';
import { fillUnset } from '../../defaulting.ts';
import type { TokenRequest } from './token-request.ts';

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const EXPIRATION = Path.of('spec', 'expirationSeconds');

export function defaultTokenRequest(request: TokenRequest): TokenRequest {
  const spec = fillUnset(request.spec ?? {}, { expirationSeconds: 3600 });
  return spec === request.spec ? request : { ...request, spec };
}

export function validateTokenRequest({ spec }: TokenRequest): FieldError[] {
  const seconds = spec?.expirationSeconds ?? 0;
  if (seconds < MIN_SECONDS) return [FieldError.invalid(EXPIRATION, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > MAX_SECONDS ? [FieldError.invalid(EXPIRATION, seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
}
