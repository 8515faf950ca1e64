/**
 * acknowledger DIRECTORY WAY COUNT: writes numbers, several concurrently, and prints `ack NUMBER` for each acknowledged one and `saw
 * NUMBER` for each one that a read returns. WAY is `store` for our embedded store, or `overlapping` for lmdb with `overlappingSync: true`,
 * its default.
 */
import { mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openEmbeddedStore } from '#store';

interface Database {
  put(number: number): Promise<unknown>;
  has(number: number): Promise<boolean>;
}

const [directory = '', way, count = '10'] = process.argv.slice(2);
const value = Buffer.alloc(3_000, 'v');
const database = way === 'store' ? await ourStore() : plainLmdb();

for (let number = 0; number < Number(count); ) {
  const together = Array.from({ length: 1 + (number % 4) }, () => number++);
  await Promise.all(together.flatMap((each) => [write(each), look(each)]));
}
// Exiting would flush: the trace must show what was flushed before.
process.kill(process.pid, 'SIGKILL');

async function write(number: number): Promise<void> {
  await database.put(number);
  writeSync(1, `ack ${number}\n`);
}

async function look(number: number): Promise<void> {
  while (!(await database.has(number))) await new Promise((resolve) => setTimeout(resolve, 1));
  writeSync(1, `saw ${number}\n`);
}

async function ourStore(): Promise<Database> {
  const store = await openEmbeddedStore({ directory });
  return {
    put: (number) => store.txn({ write: [{ type: 'put', key: `/${number}`, value }] }),
    has: async (number) => (await store.get(`/${number}`)).entry !== undefined,
  };
}

function plainLmdb(): Database {
  mkdirSync(directory, { recursive: true });
  const lmdb = open(join(directory, 'data.mdb'), { encoding: 'binary', noSubdir: true });
  return { put: (number) => lmdb.put(`/${number}`, value), has: async (number) => lmdb.getBinary(`/${number}`) !== undefined };
}
