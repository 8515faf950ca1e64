import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { realClock } from '#base';
import { type EtcdMembers, requireEtcd, startEtcd } from '../contract/etcd-members.ts';
import { describeStoreContract } from '../contract.ts';
import type { Store } from '../store.ts';
import { openEtcdStore } from './etcd-store.ts';

const directory = await mkdtemp(join(tmpdir(), 'sampan-etcd-contract-'));
const etcd = await startEtcd();
const restored: EtcdMembers[] = [];
const prefixes = new WeakMap<Store, string>();
let stores = 0;

afterAll(async () => {
  for (const members of [etcd, ...restored]) await members[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function open(members: EtcdMembers, prefix: string): Promise<Store> {
  const store = await openEtcdStore({ endpoints: members.endpoints, prefix, historyWindowMs: Number.POSITIVE_INFINITY });
  prefixes.set(store, prefix);
  return store;
}

describeStoreContract({
  name: 'the etcd engine',
  // One server for all tests: each sees keys of its own, and none counts on the first revision.
  open: () => open(etcd, `/test-${stores++}-`),
  async restore(snapshot, store) {
    requireEtcd('etcdctl');
    const dataFrom = join(directory, `restored-${stores++}`);
    const result = spawnSync('etcdctl', ['snapshot', 'restore', snapshot, '--data-dir', dataFrom], {
      env: { ...process.env, ETCDCTL_API: '3' },
    });
    if (result.status !== 0) throw new Error(`etcdctl could not restore the snapshot: ${result.stderr.toString()}`);
    const members = await startEtcd({ dataFrom });
    restored.push(members);
    return open(members, prefixes.get(store)!);
  },
  passTime: (milliseconds) => realClock.sleep(milliseconds),
});
