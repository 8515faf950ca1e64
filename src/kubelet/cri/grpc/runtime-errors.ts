import { GrpcError, grpcStatus } from '#base';
import { RuntimeError, type RuntimeErrorCode } from '../runtime.ts';

const CODES: ReadonlyMap<number, RuntimeErrorCode> = new Map(
  Object.entries(grpcStatus)
    .filter(([name]) => name !== 'ok')
    .map(([name, status]) => [status, name as RuntimeErrorCode]),
);

/** Converts a GrpcError to a RuntimeError; returns other errors unchanged. */
export function toRuntimeError(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  return new RuntimeError(CODES.get(error.status) ?? 'unknown', error.message, { cause: error });
}

export function hasRuntimeCode(error: unknown, code: RuntimeErrorCode): error is RuntimeError {
  return error instanceof RuntimeError && error.code === code;
}
