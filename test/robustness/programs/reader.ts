/** reader DIRECTORY VERIFY: opens an embedded store and reads all of it. Prints what it found, or the error's code and message. */
import { openEmbeddedStore, StoreError } from '#store';

const [directory = '', verify] = process.argv.slice(2);
try {
  await using store = await openEmbeddedStore({ directory, verify: verify === 'true' });
  const page = await store.range({});
  if (page.status === 'ok') console.log(`${page.entries.length} keys at ${page.revision}`);
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  console.log(`${error.code}: ${error.message}`);
}
