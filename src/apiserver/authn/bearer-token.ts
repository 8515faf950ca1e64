import type { ApiRequest } from '../request/api-request.ts';

/** The token in the Authorization header, if there is one. */
export function bearerToken(request: ApiRequest): string | undefined {
  const header = request.header('authorization');
  if (header === undefined) return undefined;
  const match = /^Bearer\s+(\S+)\s*$/i.exec(header);
  return match?.[1];
}
