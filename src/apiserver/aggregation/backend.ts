import type { ApiResponse } from '../handlers/api-response.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { UserInfo } from '../request/user.ts';

/** A request of this server itself. */
export interface BackendRequest {
  readonly path: string;
  readonly user: UserInfo;
  readonly accept: string;
  /** For If-None-Match. */
  readonly etag?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface JsonResponse {
  readonly code: number;
  readonly contentType: string;
  readonly etag: string;
  /** Undefined unless the code is 200. */
  readonly body: unknown;
}

/** The server of an aggregated API. */
export interface Backend {
  /** Proxies a client's request as that user. Never rejects because of the backend: errors become responses. */
  forward(request: ApiRequest): Promise<ApiResponse>;
  /** Rejects when there is no valid response within the limits. Redirects are not followed. */
  getJson(request: BackendRequest): Promise<JsonResponse>;
  /** The URL, for messages. */
  address(path: string): Promise<string>;
  close(): void;
}

/** A text response, like Go's `http.Error`. */
export function textResponse(code: number, text: string): ApiResponse {
  return {
    type: 'raw',
    code,
    contentType: 'text/plain; charset=utf-8',
    body: `${text}\n`,
    headers: { 'x-content-type-options': 'nosniff' },
  };
}
