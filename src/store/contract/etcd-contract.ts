import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { realClock } from '#base';
import { describeStoreContract } from '../contract.ts';
import { openEtcdStore } from '../etcd/etcd-store.ts';
import type { Store } from '../store.ts';
import { type EtcdMembers, requireEtcd, startEtcd } from './etcd-members.ts';

export interface EtcdContractOptions {
  /** The directory of etcd's programs. Default: those on the PATH. */
  readonly programs?: string;
  /** Default: `etcd`. */
  readonly name?: string;
}

/** The contract on a real etcd of `count` members. */
export async function describeEtcdContract(count: number, { programs, name = 'etcd' }: EtcdContractOptions = {}): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-etcd-contract-'));
  const etcd = await startEtcd({ count, programs });
  const restored: EtcdMembers[] = [];
  const prefixes = new WeakMap<Store, string>();
  let stores = 0;

  afterAll(async () => {
    for (const members of [etcd, ...restored]) await members[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const open = async (members: EtcdMembers, prefix: string): Promise<Store> => {
    const store = await openEtcdStore({ endpoints: members.endpoints, prefix, historyWindowMs: Number.POSITIVE_INFINITY });
    prefixes.set(store, prefix);
    return store;
  };

  describeStoreContract({
    name: `${name} with ${count} ${count === 1 ? 'member' : 'members'}`,
    // One cluster for all tests: each test uses its own keys and does not assume the first revision.
    open: () => open(etcd, `/test-${stores++}-`),
    async restore(snapshot, store) {
      const dataFrom = join(directory, `restored-${stores++}`);
      restoreSnapshot(snapshot, dataFrom, programs);
      const members = await startEtcd({ dataFrom, programs });
      restored.push(members);
      return open(members, prefixes.get(store)!);
    },
    passTime: (milliseconds) => realClock.sleep(milliseconds),
  });
}

/** With etcd's own tool: a snapshot must have its format. */
function restoreSnapshot(snapshot: string, directory: string, programs: string | undefined): void {
  const etcdctl = requireEtcd('etcdctl', programs);
  const env = { ...process.env, ETCDCTL_API: '3' };
  const { status, stderr } = spawnSync(etcdctl, ['snapshot', 'restore', snapshot, '--data-dir', directory], { env });
  if (status !== 0) throw new Error(`etcdctl could not restore the snapshot: ${stderr.toString()}`);
}
