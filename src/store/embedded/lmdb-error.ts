import { StoreError, type StoreErrorCode } from '../store-error.ts';

const NO_SPACE = new Set([27 /* EFBIG */, 28 /* ENOSPC */, 122 /* EDQUOT */, -30792 /* MDB_MAP_FULL */, -30788 /* MDB_TXN_FULL */]);
const CORRUPT = new Set([
  -30793 /* MDB_INVALID */, -30796 /* MDB_CORRUPTED */, -30797 /* MDB_PAGE_NOTFOUND */, -30794 /* MDB_VERSION_MISMATCH */,
]);

/** The failure of a commit in our words. lmdb hides the cause in a promise beside the error. */
export async function commitError(error: unknown): Promise<StoreError> {
  if (error instanceof StoreError) return error;
  const hidden = (error as { commitError?: Promise<never> }).commitError;
  const cause: unknown = hidden === undefined ? error : await hidden.catch((reason: unknown) => reason);
  return lmdbError(cause, 'the write failed and nothing of it was kept');
}

export function lmdbError(cause: unknown, what: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(codeOf(cause), `${what}: ${reason}`, { cause });
}

function codeOf(cause: unknown): StoreErrorCode {
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return 'no-space';
  if (typeof code !== 'number') return 'io';
  if (NO_SPACE.has(code)) return 'no-space';
  return CORRUPT.has(code) ? 'corrupt' : 'io';
}
