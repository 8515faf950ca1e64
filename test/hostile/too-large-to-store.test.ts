import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '#base';
import { openEmbeddedStore, openEtcdStore, openMemoryStore, type Store } from '#store';
import { startEtcd } from '../../src/store/contract/etcd-members.ts';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';

// A valid object may exceed etcd's request limit. Upstream returns etcd's error, which is not an internal error.

interface OpenedStore extends AsyncDisposable {
  readonly store: Store;
}

async function inDirectory(): Promise<OpenedStore> {
  const directory = await mkdtemp(join(tmpdir(), 'sampan-too-large-'));
  const store = await openEmbeddedStore({ directory, clock: realClock });
  return { store, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

async function inEtcd(): Promise<OpenedStore> {
  const etcd = await startEtcd({});
  return { store: await openEtcdStore({ endpoints: etcd.endpoints }), [Symbol.asyncDispose]: () => etcd[Symbol.asyncDispose]() };
}

const ENGINES: readonly (readonly [string, () => Promise<OpenedStore>])[] = [
  ['in memory', async () => ({ store: openMemoryStore({ clock: realClock }), async [Symbol.asyncDispose]() {} })],
  ['on disk', inDirectory],
  ['in etcd', inEtcd],
];

const PATH = '/api/v1/namespaces/default/configmaps';
const LARGE = 'etcdserver: request is too large';
const LARGER_THAN_A_MESSAGE = /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs\. 2097152\)$/;

/** A megabyte of data is allowed, with any number of labels. */
function configMap(name: string, labels: number): string {
  const entries = Array.from({ length: labels }, (_, i) => [`k${i}`.padEnd(63, 'x'), 'v'.repeat(63)]);
  const metadata = { name, labels: Object.fromEntries(entries) };
  return JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { a: 'x'.repeat(1_000_000) } });
}

describe.each(ENGINES)('with objects %s', (_, open) => {
  let opened: OpenedStore;
  let hostile: HostileCluster;
  beforeAll(async () => {
    opened = await open();
    hostile = await startHostileCluster({ store: opened.store, controllerManager: { controllers: [] } });
  });
  afterAll(async () => {
    await hostile[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });
  const send = async (method: string, path: string, body: string) => {
    const reply = await hostile.send(path, { method, token: ADMIN_TOKEN, body });
    return JSON.parse(reply.body) as { readonly code?: number; readonly message: string };
  };

  test('creating one that is too large to store is answered as upstream does', async () => {
    const large = await send('POST', PATH, configMap('large', 3000));
    expect(large).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: LARGE, code: 500 });
    const larger = await send('POST', PATH, configMap('larger', 6000));
    expect(larger).toMatchObject({ code: 500, message: expect.stringMatching(LARGER_THAN_A_MESSAGE) as string });
  });

  test('so is an update, and the object stays as it was', async () => {
    await send('POST', PATH, configMap('grows', 1));
    expect(await send('PUT', `${PATH}/grows`, configMap('grows', 3000))).toMatchObject({ code: 500, message: LARGE });
    const { body } = await hostile.send(`${PATH}/grows`, { token: ADMIN_TOKEN });
    expect(Object.keys((JSON.parse(body) as { metadata: { labels: object } }).metadata.labels)).toHaveLength(1);
  });

  test('one whose managed fields alone are too large is rejected before it is encoded', async () => {
    const finalizers = Array.from({ length: 90_000 }, (_, i) => `example.com/${i}`);
    const body = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'owned', finalizers } });
    expect(await send('POST', `${PATH}?dryRun=All`, body)).toMatchObject({ code: 500, message: LARGE });
  });

  test('the log has a line for each message, without a stack', () => {
    const reasons = hostile.logged.map((line) => JSON.parse(line) as { reason?: string });
    expect(reasons.map(({ reason }) => reason)).toContain(LARGE);
    expect(hostile.logged.filter((line) => /\bat \S+ \(|"stack"/.test(line))).toEqual([]);
  });
});
