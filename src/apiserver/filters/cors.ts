import { cel } from '#machinery';
import type { RawResponse } from '../handlers/api-response.ts';
import type { Filter } from './chain.ts';

const HEADERS = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
} as const;
const PREFLIGHT: RawResponse = { type: 'raw', code: 204, contentType: 'text/plain', body: '' };

/** CORS: allows these origins, and answers preflight requests, which have no credentials. */
export function allowOrigins(patterns: readonly string[]): Filter {
  const allowed = patterns.map((pattern) => new cel.Regex(pattern));
  return (request, next) => {
    const origin = request.header('origin');
    if (origin === undefined || !allowed.some((pattern) => pattern.test(origin))) return next(request);
    request.responseHeaders = { ...request.responseHeaders, ...HEADERS, 'access-control-allow-origin': origin };
    return request.method === 'OPTIONS' ? PREFLIGHT : next(request);
  };
}

/** Why a pattern is invalid; undefined if it is valid. As upstream, unanchored patterns are rejected: they would match other hosts. */
export function originPatternProblem(pattern: string): string | undefined {
  try {
    new cel.Regex(pattern);
  } catch (error) {
    return (error as Error).message;
  }
  const isPinned = (pattern.includes('^') || pattern.includes('//')) && (pattern.includes('$') || pattern.includes(':'));
  return isPinned ? undefined : 'regular expression does not pin to start/end of host in the origin header';
}
