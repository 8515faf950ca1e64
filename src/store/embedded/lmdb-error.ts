import { statfs } from 'node:fs/promises';
import { StoreError, type StoreErrorCode } from '../store-error.ts';

const NO_SPACE = new Set([27 /* EFBIG */, 28 /* ENOSPC */, 122 /* EDQUOT */, -30792 /* MDB_MAP_FULL */, -30788 /* MDB_TXN_FULL */]);
const CORRUPT = new Set([
  -30793 /* MDB_INVALID */, -30796 /* MDB_CORRUPTED */, -30797 /* MDB_PAGE_NOTFOUND */, -30794 /* MDB_VERSION_MISMATCH */,
]);

const SHORT_WRITE = 5; /* EIO */
/** Below this much free space a short write is reported as a full disk. */
const FULL_BYTES = 1 << 20;

/** The failure of a commit to a file in `directory` as a StoreError. lmdb hides the cause in a promise beside the error. */
export async function commitError(error: unknown, directory: string): Promise<StoreError> {
  const hidden = (error as { commitError?: Promise<never> }).commitError;
  const cause: unknown = hidden === undefined ? error : await hidden.catch((reason: unknown) => reason);
  const outcome = 'the write failed and nothing of it was kept';
  if ((cause as { code?: unknown }).code === SHORT_WRITE && (await isFull(directory))) {
    return new StoreError('no-space', `${outcome}: no space left on device`, { cause });
  }
  return lmdbError(cause, outcome);
}

async function isFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize < FULL_BYTES;
}

export function lmdbError(cause: unknown, outcome: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(codeOf(cause), `${outcome}: ${reason}`, { cause });
}

function codeOf(cause: unknown): StoreErrorCode {
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return 'no-space';
  if (typeof code !== 'number') return 'io';
  if (NO_SPACE.has(code)) return 'no-space';
  return CORRUPT.has(code) ? 'corrupt' : 'io';
}
