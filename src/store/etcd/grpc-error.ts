import { StoreError, type StoreErrorCode } from '../store-error.ts';

/** The status codes of gRPC that matter here. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** An answer of the server that is an error, or a failure to get one. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;
  /** Certain: the server did not act on the request. */
  readonly untouched: boolean;

  constructor(status: number, message: string, options: { readonly untouched?: boolean; readonly cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.untouched = options.untouched ?? false;
  }

  /** The server gave up history that was asked for. */
  get compacted(): boolean {
    return this.message.includes('required revision has been compacted');
  }
}

/** What etcd says when it refused before doing anything, so that asking again, or another member, is safe. */
const REFUSALS = ['etcdserver: no leader', 'etcdserver: too many requests', 'etcdserver: not capable', 'etcdserver: server stopped'];

/** Whether a write may be sent again. */
export function certainlyUntouched(error: unknown): boolean {
  return error instanceof GrpcError && (error.untouched || REFUSALS.includes(error.message));
}

/** Whether a read may be sent again, or a watch begun anew: everything that another moment or member can mend. */
export function transient(error: unknown): boolean {
  if (!(error instanceof GrpcError)) return false;
  return TRANSIENT.has(error.status) || (error.status === grpcStatus.unknown && error.message.startsWith('etcdserver: leader changed'));
}

const TRANSIENT: ReadonlySet<number> = new Set([
  grpcStatus.unavailable,
  grpcStatus.deadlineExceeded,
  grpcStatus.resourceExhausted,
  grpcStatus.internal,
  grpcStatus.cancelled,
]);

const BY_MESSAGE: readonly (readonly [part: string, code: StoreErrorCode])[] = [
  ['required revision is a future revision', 'future-revision'],
  ['requested lease not found', 'lease-not-found'],
  ['database space exceeded', 'no-space'],
  ['request is too large', 'too-large'],
  ['trying to send message larger than max', 'too-large'],
  ['received message larger than max', 'too-large'],
  ['too many operations in txn request', 'too-large'],
  ['duplicate key given in txn request', 'invalid'],
  ['key is not provided', 'invalid'],
  ['too large lease TTL', 'invalid'],
];

const BY_STATUS: ReadonlyMap<number, StoreErrorCode> = new Map([
  [grpcStatus.permissionDenied, 'denied'],
  [grpcStatus.unauthenticated, 'denied'],
  [grpcStatus.invalidArgument, 'invalid'],
  [grpcStatus.unimplemented, 'unsupported'],
]);

/** In our words. `written`: whether the call could have changed something. */
export function storeErrorOf(error: unknown, written: boolean): unknown {
  if (!(error instanceof GrpcError)) return error;
  const known = BY_MESSAGE.find(([part]) => error.message.includes(part))?.[1] ?? BY_STATUS.get(error.status);
  if (known !== undefined) return new StoreError(known, error.message, { cause: error });
  if (written && !certainlyUntouched(error)) {
    return new StoreError('outcome-unknown', `the answer to a write was lost (${error.message}): it may or may not have happened`, {
      cause: error,
    });
  }
  return new StoreError('unavailable', `etcd can not be reached: ${error.message}`, { cause: error });
}
