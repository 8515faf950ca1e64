import { describe, expect, test } from 'vitest';
import { realClock, seededRandom } from '#base';
import { type EtcdStore, openEtcdStore } from '#store';
import { type EtcdMembers, startEtcd } from '../../src/store/contract/etcd-members.ts';
import { type History, historyFaults, readFaults, runWorkload, watchFaults } from './history.ts';
import { patience, SEED, times } from './length.ts';
import { caughtUp, recordWatch } from './recorder.ts';

const KEYS = ['/a', '/b', '/c', '/d', '/e', '/f'];
const FAULT_MS = 2_500;

interface Fault {
  readonly name: string;
  begin(etcd: EtcdMembers, leader: number): Promise<void> | void;
  end(etcd: EtcdMembers, leader: number): Promise<void> | void;
}

const FAULTS: readonly Fault[] = [
  { name: 'is killed', begin: (etcd, leader) => etcd.kill(leader), end: (etcd, leader) => etcd.restart(leader) },
  { name: 'is paused', begin: (etcd, leader) => etcd.pause(leader), end: (etcd, leader) => etcd.resume(leader) },
  { name: 'is cut off from the others', begin: (etcd, leader) => etcd.cutOff(leader), end: (etcd, leader) => etcd.reconnect(leader) },
];

function openStore(endpoints: readonly string[]): Promise<EtcdStore> {
  const patient = { connectTimeoutMs: 1_000, keepAliveMs: 700, attemptTimeoutMs: 1_000, callTimeoutMs: 1_500 };
  return openEtcdStore({ endpoints, prefix: '/registry', historyWindowMs: Number.POSITIVE_INFINITY, ...patient });
}

async function leaderOf(etcd: EtcdMembers): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const leader = await etcd.leader();
    if (leader >= 0) return leader;
    await realClock.sleep(100);
  }
  throw new Error('etcd has no leader');
}

/** Some writes must have been acknowledged during the fault, or nothing was tested. */
async function workUnderFault(
  etcd: EtcdMembers,
  stores: readonly EtcdStore[],
  fault: Fault,
): Promise<{ readonly history: History; readonly during: number }> {
  const random = seededRandom(`${SEED} ${fault.name}`);
  let working = true;
  let acknowledged = 0;
  const work = runWorkload(stores, {
    random,
    keys: KEYS,
    clients: 9,
    goOn: () => working,
    async pause() {
      acknowledged++;
      await realClock.sleep(5 + random.int(20));
    },
  });
  let during = 0;
  for (let round = 0; round < times(1, 200); round++) {
    await realClock.sleep(500);
    const leader = await leaderOf(etcd);
    await fault.begin(etcd, leader);
    const before = acknowledged;
    await realClock.sleep(FAULT_MS);
    during += acknowledged - before;
    await fault.end(etcd, leader);
    await realClock.sleep(500);
  }
  working = false;
  return { history: await work, during };
}

/** A last write, retried until it has certainly happened. */
async function lastRevision(store: EtcdStore): Promise<number> {
  for (;;) {
    const result = await store.txn({ write: [{ type: 'put', key: '/end', value: Buffer.from('0') }] }).catch(() => undefined);
    if (result !== undefined) return result.revision;
  }
}

describe(`three members of etcd (seed ${SEED})`, () => {
  test.each(FAULTS)(
    'the leader $name while clients write and watch: nothing is lost, doubled or out of order',
    { timeout: patience(60_000) },
    async (fault) => {
      await using etcd = await startEtcd({ count: 3 });
      const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(etcd.endpoints)));
      const start = await stores[0]!.revision();
      const recorders = stores.map((store) => recordWatch(store, start + 1));
      const { history, during } = await workUnderFault(etcd, stores, fault);
      const revision = await lastRevision(stores[0]!);
      await caughtUp(recorders, revision, 20_000);
      for (const store of stores) await store.close();
      expect(historyFaults(history)).toEqual([]);
      expect(watchFaults(history, recorders)).toEqual([]);
      expect(readFaults(history, recorders[0]!)).toEqual([]);
      expect(during, 'operations while the fault lasted').toBeGreaterThan(20);
    },
  );

  test('a member that is cut off does not answer reads with old state', { timeout: patience(60_000) }, async () => {
    await using etcd = await startEtcd({ count: 3 });
    const leader = await leaderOf(etcd);
    await using cut = await openStore([etcd.endpoints[leader]!]);
    await using others = await openStore(etcd.endpoints.filter((_, i) => i !== leader));
    await cut.txn({ write: [{ type: 'put', key: '/a', value: Buffer.from('1') }] });
    etcd.cutOff(leader);
    let written = false;
    while (!written) {
      written = await others.txn({ write: [{ type: 'put', key: '/a', value: Buffer.from('2') }] }).then(
        () => true,
        () => false,
      );
    }
    await expect(cut.get('/a')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(cut.txn({ write: [{ type: 'put', key: '/a', value: Buffer.from('3') }] })).rejects.toMatchObject({
      code: expect.stringMatching(/^(unavailable|outcome-unknown)$/),
    });
    etcd.reconnect(leader);
    const healed = async (): Promise<number> => cut.get('/a').then(({ entry }) => Number(Buffer.from(entry!.value).toString()), healed);
    expect(await healed()).toBeGreaterThanOrEqual(2);
  });
});
