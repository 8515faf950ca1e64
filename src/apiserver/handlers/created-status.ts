import type { StatusResponse } from '../request/api-response.ts';

/** The answer of what makes no object, when it went well. */
export function createdStatus(): StatusResponse {
  return { type: 'plain', code: 201, object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}
