/** The status codes of gRPC. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** An error response of the server, or a failure to get a response. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;
  /** The server certainly did not process the request. */
  readonly untouched: boolean;

  constructor(status: number, message: string, options: { readonly untouched?: boolean; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.untouched = options.untouched ?? false;
  }
}

export function hasGrpcStatus(error: unknown, status: number): error is GrpcError {
  return error instanceof GrpcError && error.status === status;
}
