import { createHash } from 'node:crypto';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from './api-response.ts';

/** A cacheable document: 304 if the client has it. */
export function etagResponse(request: ApiRequest, contentType: string, body: Buffer, headers: Record<string, string> = {}): ApiResponse {
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`;
  const tagged = { etag, vary: 'Accept', 'cache-control': 'public', ...headers };
  if (request.header('if-none-match') === etag) return { type: 'raw', code: 304, contentType, body: '', headers: tagged };
  return { type: 'raw', code: 200, contentType, body, headers: tagged };
}
