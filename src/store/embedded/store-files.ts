import { syncDirectory } from '../new-file.ts';
import { StoreError } from '../store-error.ts';
import { FORMAT, writeMark } from './directory.ts';
import { lmdbError } from './lmdb-error.ts';
import { writeFormat } from './migrations.ts';
import { decodeState, encodeState, RecordBuffer, revisionOf, type StateRecord } from './records.ts';
import { openTables, type Tables } from './tables.ts';

export function openChecked(directory: string): Tables {
  try {
    return openTables(directory);
  } catch (cause) {
    throw lmdbError(cause, `can not open the store in ${directory}`);
  }
}

const EMPTY: StateRecord = { revision: 1, compactRevision: 0, scrubbedRevision: 0, nextLease: 1 };

export async function makeTables(tables: Tables, directory: string): Promise<void> {
  tables.root.transactionSync(() => {
    writeFormat(tables, FORMAT);
    tables.meta.putSync('state', encodeState(EMPTY, new RecordBuffer()));
  });
  await syncDirectory(directory);
  await writeMark(directory, 'made');
}

export function readState(tables: Tables): StateRecord {
  const bytes = tables.meta.getBinary('state');
  if (bytes === undefined) throw new StoreError('corrupt', 'the data file does not say its revision');
  const state = decodeState(bytes);
  for (const last of tables.log.getKeys({ reverse: true, start: Number.MAX_SAFE_INTEGER, end: 0, limit: 1 } as never)) {
    if (revisionOf(last) > state.revision) throw new StoreError('corrupt', `the log goes beyond revision ${state.revision}`);
  }
  return state;
}

interface TreeStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

export function usedBytesOf({ root, meta, index, log, leases, leaseKeys }: Tables): number {
  const { free } = root.getStats() as { free: TreeStats };
  const trees = [root, meta, index, log, leases, leaseKeys].map((table) => table.getStats() as TreeStats);
  const pages = [free, ...trees].map((tree) => tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages);
  const metaPages = 2;
  return pages.reduce((sum, count) => sum + count, metaPages) * free.pageSize;
}
