import { StoreError } from '../store-error.ts';
import { FORMAT } from './directory.ts';
import type { Tables } from './tables.ts';

/** Migrates the tables from one format to the next, inside a transaction. */
export type Migration = (tables: Tables) => void;

/** Migrations by the format that they start from. */
export const migrations: ReadonlyMap<number, Migration> = new Map();

interface FormatRecord {
  readonly format: number;
}

export function writeFormat(tables: Tables, format: number): void {
  tables.meta.putSync('format', Buffer.from(JSON.stringify({ format } satisfies FormatRecord)));
}

export function readFormat(tables: Tables): number {
  const bytes = tables.meta.getBinary('format');
  const record = bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Partial<FormatRecord>);
  if (typeof record?.format !== 'number') throw new StoreError('corrupt', 'the data file does not say its format');
  return record.format;
}

/** Migrates the tables to `target`, all steps in one transaction: an interrupted migration leaves the old format. */
export function migrate(tables: Tables, steps: ReadonlyMap<number, Migration> = migrations, target: number = FORMAT): void {
  const from = readFormat(tables);
  if (from > target) {
    throw new StoreError('unsupported-format', `the data file has format ${from}, this program knows up to ${target}: use a newer one`);
  }
  if (from === target) return;
  tables.root.transactionSync(() => {
    for (let format = from; format < target; format++) {
      const step = steps.get(format);
      if (step === undefined) throw new StoreError('unsupported-format', `there is no way from format ${format} to ${target}`);
      step(tables);
    }
    writeFormat(tables, target);
  });
}
