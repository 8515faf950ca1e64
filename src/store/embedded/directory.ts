import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newFile, syncDirectory } from '../new-file.ts';
import { StoreError } from '../store-error.ts';
import { isLockFile } from './directory-lock.ts';
import { checkPages } from './page-check.ts';
import { DATA_FILE } from './tables.ts';

/** The version of the layout of tables and records. Newer versions increase it and migrate older files (`migrations.ts`). */
export const FORMAT = 1;

/** The state of the directory, stored beside the data file: `making` or `restoring` until the data file is complete. */
const MARK_FILE = 'store.json';

interface Mark {
  readonly kind: 'sampan store';
  readonly state: MarkState;
}

type MarkState = 'making' | 'restoring' | 'made';

const STATES: readonly unknown[] = ['making', 'restoring', 'made'] satisfies MarkState[];

export interface Preparation {
  /** Check every page of the data file. */
  readonly thorough: boolean;
  /** The operation that will follow on a directory without a store. */
  readonly purpose: 'making' | 'restoring';
}

/**
 * Ensures that the directory contains a store, or is empty. Changes nothing that it does not recognise. Call it while holding
 * the directory's lock.
 */
export async function prepareDirectory(directory: string, { thorough, purpose }: Preparation): Promise<'new' | 'existing'> {
  const names = (await readdir(directory)).filter((name) => !isLockFile(name) && !name.endsWith('.partial'));
  const mark = names.includes(MARK_FILE) ? await readMark(directory) : undefined;
  if (mark?.state === 'made') {
    if (!names.includes(DATA_FILE)) throw new StoreError('corrupt', `${join(directory, DATA_FILE)} is missing; restore it from a snapshot`);
    await checkPages(join(directory, DATA_FILE), thorough);
    return 'existing';
  }
  if (mark === undefined && names.length > 0) {
    throw new StoreError('corrupt', `${directory} is not a store: it holds ${names.slice(0, 5).join(', ')}`);
  }
  if (mark?.state === 'restoring' && purpose === 'making') {
    throw new StoreError('corrupt', `the restore of ${directory} was interrupted; run it again`);
  }
  await writeMark(directory, purpose);
  for (const leftover of names.filter((name) => name.startsWith(DATA_FILE))) await rm(join(directory, leftover));
  return 'new';
}

export async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new StoreError('io', `can not make ${directory}: ${(cause as Error).message}`, { cause });
  }
}

async function readMark(directory: string): Promise<Mark> {
  const file = join(directory, MARK_FILE);
  try {
    const mark = JSON.parse(await readFile(file, 'utf8')) as Partial<Mark>;
    if (mark.kind === 'sampan store' && STATES.includes(mark.state)) return mark as Mark;
  } catch (cause) {
    throw new StoreError('corrupt', `${file} can not be read`, { cause });
  }
  throw new StoreError('corrupt', `${file} is not that of a store`);
}

export async function writeMark(directory: string, state: MarkState): Promise<void> {
  await newFile(join(directory, MARK_FILE), async (temporary) => {
    await using handle = await open(temporary, 'w', 0o600);
    await handle.writeFile(`${JSON.stringify({ kind: 'sampan store', state } satisfies Mark)}\n`);
    await handle.sync();
  });
  await syncDirectory(directory);
}
