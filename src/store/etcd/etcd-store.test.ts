import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock, VirtualClock } from '#base';
import { type CertificateFiles, makeCertificates } from '../contract/certificates.ts';
import { put, record, until, write } from '../contract/contract-engine.ts';
import { type EtcdMembers, startEtcd } from '../contract/etcd-members.ts';
import { freePort } from '../contract/free-port.ts';
import { type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts';
import { FakeServer } from './fake-server.test-server.ts';

const historyWindowMs = Number.POSITIVE_INFINITY;
let etcd: EtcdMembers;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sampan-etcd-'));
  etcd = await startEtcd();
}, 60_000);

afterAll(async () => {
  await etcd[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const open = (options: Partial<EtcdStoreOptions> = {}) => openEtcdStore({ endpoints: etcd.endpoints, historyWindowMs, ...options });

describe('an etcd store', () => {
  test('begins at revision 1 on a new server, and uses the keys as they are', async () => {
    await using store = await open();
    expect(await store.revision()).toBe(1);
    await write(store, put('/registry/pods/default/web', 'pod'));
    await using within = await open({ prefix: '/registry' });
    expect((await within.get('/pods/default/web')).entry?.key).toBe('/pods/default/web');
  });

  test('finds a member that answers among several that do not', async () => {
    const unusedPort = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    for (let i = 0; i < 5; i++) {
      await using store = await open({ endpoints: [...unusedPort, ...etcd.endpoints] });
      expect(await write(store, put('/failover', String(i)))).toBeGreaterThan(1);
    }
  });

  test('is unavailable when no member answers', async () => {
    const endpoints = [`http://127.0.0.1:${await freePort()}`];
    await expect(open({ endpoints, openTimeoutMs: 300 })).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
  });

  test('says so in a few seconds, on the clock it is given', async () => {
    const clock = new VirtualClock();
    const opening = open({ endpoints: [`http://127.0.0.1:${await freePort()}`], clock });
    const outcome = opening.then(
      () => 'opened',
      (error: { code: string }) => error.code,
    );
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    const began = clock.monotonic();
    while (!isOver) {
      await clock.advance(100);
      await realClock.sleep(1);
    }
    expect(await outcome).toBe('unavailable');
    expect(clock.monotonic() - began).toBeLessThan(5_000);
  });

  test.each([[[]], [['127.0.0.1:2379']], [['ftp://127.0.0.1:2379']]])('refuses %j as endpoints', async (endpoints) => {
    await expect(open({ endpoints })).rejects.toMatchObject({ code: 'invalid' });
  });

  test('puts the fragments of a large answer together', async () => {
    await using store = await open({ prefix: '/fragments' });
    const start = await store.revision();
    for (let i = 0; i < 30; i++)
      await store.txn({ write: [put(`/${i}`, `${i} `.padEnd(400_000, 'x')), put(`/${i}/b`, 'y'.repeat(300_000))] });
    using watch = record(store, { prefix: '/', fromRevision: start + 1, prevValue: true });
    await until(() => watch.events.length === 60, 'everything came');
    for (const batch of watch.batches) expect(new Set(batch.map(({ modRevision }) => modRevision)).size * 2).toBe(batch.length);
    expect(watch.events.filter((_, i) => i % 2 === 0).every(({ value }, i) => Buffer.from(value!).toString().startsWith(`${i} `))).toBe(
      true,
    );
  });

  test('resumes a watch after the server was killed, without gap or duplicate', { timeout: 30_000 }, async () => {
    await using other = await startEtcd();
    await using store = await open({ endpoints: other.endpoints });
    const start = await store.revision();
    using watch = record(store, { prefix: '/', fromRevision: start + 1 });
    await write(store, put('/1'), put('/2'));
    await until(() => watch.events.length === 2, 'two events came');
    await other.kill(0);
    await other.restart(0);
    await write(store, put('/3'), put('/4'));
    await until(() => watch.events.length === 4, 'four events came');
    expect(watch.events.map(({ key }) => key)).toEqual(['/1', '/2', '/3', '/4']);
  });

  test('compacts as upstream’s API servers do, agreeing with them on who does it', async () => {
    const clock = new VirtualClock();
    await using first = await open({ clock, historyWindowMs: 60_000 });
    await using two = await open({ clock, historyWindowMs: 60_000 });
    const agreed = async () => Buffer.from((await first.get('compact_rev_key')).entry?.value ?? []).toString();
    const round = async (expected: () => Promise<boolean>, description: string) => {
      await clock.advance(60_000);
      await until(expected, description);
    };
    await round(async () => (await agreed()) === '0', 'one of them began');
    await realClock.sleep(100);
    const revision = await first.revision();
    await write(first, put('/compacted'), put('/compacted'));
    await round(async () => Number(await agreed()) > 0, 'one of them compacted');
    const compacted = Number(await agreed());
    expect(compacted).toBeLessThanOrEqual(revision);
    await until(async () => (await two.status()).compactRevision === compacted, 'the server did');
    expect((await first.get('compact_rev_key')).entry?.version).toBe(2);
  });
});

describe('TLS with client certificates', () => {
  test('is spoken, and those without a certificate stay outside', { timeout: 60_000 }, async () => {
    const [server, client] = await makeCertificates(directory, 'ours', ['server', 'client']);
    const [stranger] = await makeCertificates(directory, 'theirs', ['stranger']);
    const read = async (files: CertificateFiles | undefined) => ({
      ca: await readFile(server!.ca),
      cert: await readFile(files!.cert),
      key: await readFile(files!.key),
    });
    await using secure = await startEtcd({ tls: server! });
    await using store = await open({ endpoints: secure.endpoints, tls: await read(client) });
    expect(await write(store, put('/secret', 'x'))).toBe(2);
    const { ca } = await read(client);
    const impatient = { endpoints: secure.endpoints, callTimeoutMs: 500 };
    await expect(open({ ...impatient, tls: { ca } })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(open({ ...impatient, tls: await read(stranger) })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(open({ ...impatient, tls: { ...(await read(client)), ca: await readFile(stranger!.ca) } })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('a request that gets no answer', () => {
  const patience = { callTimeoutMs: 1_000, attemptTimeoutMs: 200, historyWindowMs };

  test('is sent again when it reads', async () => {
    await using server = await FakeServer.start();
    await using store = await openEtcdStore({ endpoints: [server.endpoint], ...patience });
    server.behave('KV/Range', ['break', 'unavailable', 'answer']);
    expect(await store.revision()).toBe(7);
    expect(server.requests('KV/Range')).toBe(4);
  });

  test('is not sent again when it may have been written', async () => {
    await using server = await FakeServer.start();
    await using store = await openEtcdStore({ endpoints: [server.endpoint], ...patience });
    for (const failure of ['break', 'unavailable', 'timeout'] as const) {
      const before = server.requests('KV/Txn');
      server.behave('KV/Txn', [failure]);
      await expect(store.txn({ write: [put('/a')] })).rejects.toMatchObject({ code: 'outcome-unknown' });
      expect(server.requests('KV/Txn') - before, failure).toBe(1);
    }
  });

  test('is sent again when the server refused it before doing anything', async () => {
    await using server = await FakeServer.start();
    await using store = await openEtcdStore({ endpoints: [server.endpoint], ...patience });
    server.behave('KV/Txn', ['no leader', 'refuse', 'answer']);
    expect(await store.txn({ write: [put('/a')] })).toMatchObject({ succeeded: true });
    expect(server.requests('KV/Txn')).toBe(3);
  });

  test('has the error code that the server returned', async () => {
    await using server = await FakeServer.start();
    await using store = await openEtcdStore({ endpoints: [server.endpoint], ...patience });
    server.behave('KV/Txn', ['no space', 'denied']);
    await expect(store.txn({ write: [put('/a')] })).rejects.toMatchObject({ code: 'no-space' });
    await expect(store.txn({ write: [put('/a')] })).rejects.toMatchObject({ code: 'denied' });
  });

  test('a server that is too old is rejected', async () => {
    await using server = await FakeServer.start({ version: '3.3.27' });
    await expect(openEtcdStore({ endpoints: [server.endpoint], ...patience })).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('progress on demand', () => {
  test.each([
    ['3.4.23', false],
    ['3.4.31', true],
    ['3.5.12', false],
    ['3.5.13', true],
    ['3.6.0', true],
  ])('is trusted of etcd %s: %s', async (version, trusted) => {
    await using server = await FakeServer.start({ version });
    await using store = await openEtcdStore({ endpoints: [server.endpoint], historyWindowMs });
    using watch = record(store, { prefix: '/', fromRevision: 8 });
    expect(watch.requestProgress()).toBe(trusted);
    if (trusted) await until(() => watch.marks.length > 0, 'the mark came');
    expect(watch.marks).toEqual(trusted ? [7] : []);
  });

  test('comes although the server drops requests while the watch catches up', async () => {
    await using server = await FakeServer.start();
    await using store = await openEtcdStore({ endpoints: [server.endpoint], historyWindowMs });
    server.behave('Watch/Progress', ['refuse', 'refuse']);
    using watch = record(store, { prefix: '/', fromRevision: 8 });
    expect(watch.requestProgress()).toBe(true);
    await until(() => watch.marks.length > 0, 'the mark came');
    expect(watch.marks).toEqual([7]);
  });
});
