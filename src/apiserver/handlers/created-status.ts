import type { StatusResponse } from './api-response.ts';

/** The response of a subresource that creates no object. */
export function createdStatus(): StatusResponse {
  return { type: 'plain', code: 201, object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}
