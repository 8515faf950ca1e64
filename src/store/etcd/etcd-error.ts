import { GrpcError, grpcStatus } from '#base';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

/** The requested revision has been compacted. */
export function isCompacted(error: unknown): boolean {
  return error instanceof GrpcError && error.message.includes('required revision has been compacted');
}

/** Messages of rejections that happen before any effect, so that a retry on this or another member is safe. */
const REJECTIONS = ['etcdserver: no leader', 'etcdserver: too many requests', 'etcdserver: not capable', 'etcdserver: server stopped'];

/** Whether a write may be sent again. */
export function isSafeToRetry(error: unknown): boolean {
  return error instanceof GrpcError && (error.untouched || REJECTIONS.includes(error.message));
}

/** Whether a read may be retried or a watch restarted: every error that time or another member can resolve. */
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

/** Translates to a StoreError. `written`: whether the call could have changed something. */
export function storeErrorOf(error: unknown, written: boolean): unknown {
  if (!(error instanceof GrpcError)) return error;
  const code = BY_MESSAGE.find(([part]) => error.message.includes(part))?.[1] ?? BY_STATUS.get(error.status);
  if (code !== undefined) return new StoreError(code, error.message, { cause: error });
  if (written && !isSafeToRetry(error)) {
    return new StoreError('outcome-unknown', `the answer to a write was lost (${error.message}): it may or may not have happened`, {
      cause: error,
    });
  }
  return new StoreError('unavailable', `etcd can not be reached: ${error.message}`, { cause: error });
}
