/**
 * filler DIRECTORY PADDING: writes to an embedded store on a small medium until it is full, reads everything, frees space by deleting
 * PADDING, and writes again. Prints a JSON report.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddedStore, openEmbeddedStore, StoreError } from '#store';

const [directory = '', padding = ''] = process.argv.slice(2);
const value = Buffer.alloc(10_000, 'v');
const errors = new Set<string>();
let acknowledged = 0;
let next = 0;

const store = await openEmbeddedStore({ directory });
const before = await fill(store);
const readable = await countReadable(store);
await rm(padding);
const again = await store.txn({ write: [{ type: 'put', key: '/again', value }] });
await store.close();
await using reopened = await openEmbeddedStore({ directory: join(directory), verify: true });
console.log(
  JSON.stringify({ acknowledged: before, readable, codes: [...errors], again: again.succeeded, afterwards: await countReadable(reopened) }),
);

async function fill(target: EmbeddedStore): Promise<number> {
  while (errors.size === 0 && acknowledged < 10_000) {
    const attempts = Array.from({ length: 20 }, () => put(target));
    await Promise.all(attempts);
  }
  // Rejected writes stay rejected, and do no damage.
  await Promise.all(Array.from({ length: 100 }, () => put(target)));
  return acknowledged;
}

async function put(target: EmbeddedStore): Promise<void> {
  const key = `/k/${next++}`;
  try {
    await target.txn({ write: [{ type: 'put', key, value }] });
    acknowledged++;
  } catch (error) {
    errors.add(error instanceof StoreError ? error.code : String(error));
  }
}

async function countReadable(target: EmbeddedStore): Promise<number> {
  const page = await target.range({ prefix: '/k/' });
  return page.status === 'ok' ? page.entries.filter((entry) => value.equals(entry.value)).length : -1;
}
