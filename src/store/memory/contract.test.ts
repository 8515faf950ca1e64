import { VirtualClock } from '#base';
import { describeStoreContract } from '../contract.ts';
import { openMemoryStore, restoreMemoryStore } from './memory-store.ts';

const clock = new VirtualClock();

describeStoreContract({
  name: 'the memory engine',
  open: async () => openMemoryStore({ clock, historyWindowMs: Number.POSITIVE_INFINITY }),
  restore: (file) => restoreMemoryStore(file, { clock }),
  passTime: (milliseconds) => clock.advance(milliseconds),
});
