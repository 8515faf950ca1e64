import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { realClock, VirtualClock } from '#base';
import { describeStoreContract } from '../contract.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { restoreEmbeddedStore } from './snapshot-file.ts';

const clock = new VirtualClock();
const parent = await mkdtemp(join(tmpdir(), 'sampan-contract-'));
let stores = 0;

afterAll(() => rm(parent, { recursive: true, force: true }));

describeStoreContract({
  name: 'the embedded engine',
  open: () => openEmbeddedStore({ directory: join(parent, String(stores++)), clock, historyWindowMs: Number.POSITIVE_INFINITY }),
  async restore(snapshot) {
    const directory = join(parent, String(stores++));
    await restoreEmbeddedStore({ snapshot, directory });
    return openEmbeddedStore({ directory, clock, verify: true });
  },
  async passTime(milliseconds) {
    await clock.advance(milliseconds);
    // Commits take real time.
    await realClock.sleep(10);
  },
});
