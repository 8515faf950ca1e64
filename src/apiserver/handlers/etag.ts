import { createHash } from 'node:crypto';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';

/** A document that changes rarely: a client that has it already is told so. */
export function etagged(request: ApiRequest, contentType: string, body: Buffer, headers: Record<string, string> = {}): ApiResponse {
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const tagged = { etag, vary: 'Accept', 'cache-control': 'public', ...headers };
  if (request.header('if-none-match') === etag) return { type: 'raw', code: 304, contentType, body: '', headers: tagged };
  return { type: 'raw', code: 200, contentType, body, headers: tagged };
}
