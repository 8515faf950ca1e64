import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { core } from '#api';
import { GrpcServer, MetricsRegistry, realClock, seededRandom, silentLogger, unaryMethod, VirtualClock } from '#base';
import { Client } from '#client';
import { openEmbeddedStore, openMemoryStore, type Store } from '#store';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { startApiServer } from './server.ts';
import { Encryption } from './storage-encryption/encryption.ts';
import { KMS_METHODS } from './storage-encryption/kms-service.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-encryption-'));
afterAll(() => rmSync(directory, { recursive: true }));
let count = 0;
const stops: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const cipher = (type: string, name: string, fill: number) => `{${type}: {keys: [{name: ${name}, secret: ${key(fill)}}]}}`;

function configuration(providers: string, resources = '[secrets]'): string {
  const file = path.join(directory, `encryption-${++count}.yaml`);
  write(file, providers, resources);
  return file;
}
function write(file: string, providers: string, resources = '[secrets]'): void {
  const text = `{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [{resources: ${resources}, providers: [${providers}]}]}`;
  writeFileSync(file, text);
}

const deps = () => ({ clock: realClock, random: seededRandom('encryption'), logger: silentLogger, metrics: new MetricsRegistry() });

async function serve(store: Store, file: string | undefined) {
  const server = startApiServer(
    {
      version: { major: '1', minor: '36' },
      anonymousAuth: false,
      systemObjects: false,
      ...(file && { encryption: { path: file, reload: false } }),
    },
    { ...deps(), store, admission: [] },
  );
  await server.ready;
  stops.push(() => server[Symbol.asyncDispose]());
  const client = new Client(inProcessTransport(server.handle, { name: 'jane', groups: [] }, { clock: realClock }));
  const path = (target: string) => server.handle(request(target));
  return { server, client, secrets: client.of(core.Secret), path };
}

function request(target: string): Parameters<ReturnType<typeof startApiServer>['handle']>[0] {
  const info = { isResource: false, path: target, verb: 'get', group: '', version: '', namespace: '', resource: '', subresource: '' };
  return {
    ...{ method: 'GET', path: target, query: new URLSearchParams(), info: { ...info, name: '', rest: [], legacyWatch: false } },
    ...{ header: () => undefined, body: { type: 'object', value: undefined, contentType: '' }, remoteAddress: '' },
    ...{ signal: new AbortController().signal, warnings: [], isLocal: true, onFinished: () => {}, user: { name: 'jane', groups: [] } },
  };
}

const secret = (name: string, text = 'TOP-SECRET') => ({
  metadata: { name, namespace: 'default' },
  data: { password: Buffer.from(text).toString('base64') },
});
const WORD = Buffer.from('TOP-SECRET').toString('base64');
const KEY = '/registry/secrets/default/a';
const stored = async (store: Store, place = KEY) => Buffer.from((await store.get(place)).entry!.value).toString('latin1');

function memory(): Store {
  const store = openMemoryStore({ clock: realClock });
  stops.push(() => store.close());
  return store;
}

const PROVIDERS = [
  ['aesgcm', 'k8s:enc:aesgcm:v1:one:'],
  ['aescbc', 'k8s:enc:aescbc:v1:one:'],
  ['secretbox', 'k8s:enc:secretbox:v1:one:'],
] as const;

describe.each(PROVIDERS)('with %s', (type, prefix) => {
  it('secrets are stored encrypted, and decrypted for get, list and watch', async () => {
    const store = memory();
    const { client, secrets } = await serve(store, configuration(cipher(type, 'one', 1)));
    await secrets.create(secret('a'));
    await client.of(core.ConfigMap).create({ metadata: { name: 'a', namespace: 'default' }, data: { plain: 'text' } });
    expect((await stored(store)).startsWith(prefix)).toBe(true);
    expect(await stored(store)).not.toContain(WORD);
    expect(await stored(store, '/registry/configmaps/default/a')).toContain('plain');
    expect((await secrets.get({ name: 'a', namespace: 'default' })).data).toEqual({ password: WORD });
  });
});

it('plaintext does not reach the files of the database, and the snapshot restores what was there', async () => {
  const place = path.join(directory, 'embedded');
  const store = await openEmbeddedStore({ directory: place, clock: realClock, logger: silentLogger });
  const file = configuration(cipher('aesgcm', 'one', 1));
  const { server, client, secrets } = await serve(store, file);
  for (let i = 0; i < 50; i++) await secrets.create(secret(`s-${i}`));
  await client.of(core.ConfigMap).create({ metadata: { name: 'a', namespace: 'default' }, data: { marker: 'IN-THE-CLEAR' } });
  await store.snapshot(path.join(directory, 'snapshot'));
  await server[Symbol.asyncDispose]();
  await store.close();
  const bytes = filesIn(place).concat(filesIn(path.join(directory, 'snapshot')));
  expect(bytes.some((content) => content.includes('IN-THE-CLEAR'))).toBe(true);
  expect(bytes.some((content) => content.includes(WORD))).toBe(false);
  const again = await openEmbeddedStore({ directory: place, clock: realClock, logger: silentLogger });
  stops.push(() => again.close());
  const restarted = await serve(again, file);
  const list = await restarted.secrets.list({ namespace: 'default' });
  expect(list.items.map(({ data }) => data?.password)).toEqual(Array.from({ length: 50 }, () => WORD));
});

function filesIn(place: string): readonly Buffer[] {
  try {
    return readdirSync(place).flatMap((name) => filesIn(path.join(place, name)));
  } catch {
    return [readFileSync(place)];
  }
}

describe('a new key', () => {
  it('encrypts an object that is written again unchanged', async () => {
    const store = memory();
    const before = await serve(store, configuration('{identity: {}}'));
    await before.secrets.create(secret('a'));
    expect(await stored(store)).toContain(WORD);
    await before.server[Symbol.asyncDispose]();
    const after = await serve(store, configuration(`${cipher('aesgcm', 'two', 2)}, {identity: {}}`));
    const read = await after.secrets.get({ name: 'a', namespace: 'default' });
    const replaced = await after.secrets.update(read);
    expect(await stored(store)).toMatch(/^k8s:enc:aesgcm:v1:two:/);
    const unchanged = await after.secrets.update(replaced);
    expect(unchanged.metadata.resourceVersion).toBe(replaced.metadata.resourceVersion);
  });

  it('is used after a reload; an invalid file changes nothing', async () => {
    const file = configuration(cipher('aesgcm', 'one', 1));
    const own = deps();
    const encryption = new Encryption({ path: file, reload: true }, own);
    const store = memory();
    const secrets = encryption.storeFor({ group: '', resource: 'secrets' }, store);
    const put = () => secrets.txn({ write: [{ type: 'put', key: KEY, value: Buffer.from('{}') }] });
    await put();
    expect(await stored(store)).toMatch(/^k8s:enc:aesgcm:v1:one:/);
    write(file, `${cipher('secretbox', 'two', 2)}, ${cipher('aesgcm', 'one', 1)}`);
    await encryption.reload();
    expect((await secrets.get(KEY)).entry!.value.toString()).toBe('{}');
    await put();
    expect(await stored(store)).toMatch(/^k8s:enc:secretbox:v1:two:/);
    writeFileSync(file, 'nonsense');
    await encryption.reload();
    await put();
    expect(await stored(store)).toMatch(/^k8s:enc:secretbox:v1:two:/);
    const text = own.metrics.text();
    const of = 'apiserver_encryption_config_controller';
    expect(text).toMatch(new RegExp(`${of}_automatic_reloads_total{status="failure",apiserver_id_hash="[^"]*"} 1`));
    expect(text).toMatch(new RegExp(`${of}_automatic_reload_last_timestamp_seconds{status="failure",apiserver_id_hash="[^"]*"} [1-9]`));
    expect(text.match(new RegExp(`${of}_last_config_info{apiserver_id_hash="[^"]*",hash="sha256:[0-9a-f]{64}"} 1`, 'g'))).toHaveLength(1);
    await encryption.stop();
  });
});

describe('what cannot be read', () => {
  it.each([
    ['with the wrong key', cipher('aesgcm', 'one', 9), 'message authentication failed'],
    ['without the key', cipher('aesgcm', 'other', 1), 'no matching key was found for the provided AES transformer'],
    ['with identity alone', '{identity: {}}', 'no matching prefix found'],
  ])('%s is told with its key, and stays', async (_, providers, message) => {
    const store = memory();
    const before = await serve(store, configuration(cipher('aesgcm', 'one', 1)));
    await before.secrets.create(secret('a'));
    const bytes = await stored(store);
    await before.server[Symbol.asyncDispose]();
    const { secrets } = await serve(store, configuration(providers));
    const error = await secrets.get({ name: 'a', namespace: 'default' }).catch((failure: Error) => failure);
    expect(String(error)).toContain(`unable to transform key "${KEY}"`);
    expect(String(error)).toContain(message);
    await expect(secrets.create(secret('b'))).rejects.toThrow('unable to transform key');
    expect(await stored(store)).toBe(bytes);
  });

  it('an encrypted value without a configuration is reported with its key', async () => {
    const store = memory();
    const before = await serve(store, configuration(cipher('aesgcm', 'one', 1)));
    await before.secrets.create(secret('a'));
    await before.server[Symbol.asyncDispose]();
    const { secrets } = await serve(store, undefined);
    await expect(secrets.get({ name: 'a', namespace: 'default' })).rejects.toThrow(`cannot read ${KEY}: it is encrypted`);
  });
});

it('wildcards reach a group, the core group or everything, and the more specific rule wins', async () => {
  const encryption = (resources: string) =>
    new Encryption({ path: configuration(cipher('aesgcm', 'one', 1), resources), reload: false }, deps());
  const isEncrypted = async (rules: string, group: string, resource: string) => {
    const store = memory();
    await encryption(rules)
      .storeFor({ group, resource }, store)
      .txn({ write: [{ type: 'put', key: KEY, value: Buffer.from('{}') }] });
    return (await stored(store)).startsWith('k8s:enc:');
  };
  expect(await isEncrypted("['*.']", '', 'pods')).toBe(true);
  expect(await isEncrypted("['*.']", 'apps', 'deployments')).toBe(false);
  expect(await isEncrypted("['*.apps']", 'apps', 'deployments')).toBe(true);
  expect(await isEncrypted("['*.*']", 'example.com', 'things')).toBe(true);
});

describe('a KMS plugin', () => {
  /** Wraps seeds by adding one to each byte. */
  async function plugin() {
    const endpoint = `unix://${path.join(directory, `kms-${++count}.sock`)}`;
    const state = { keyId: 'key-1', healthz: 'ok', decrypts: 0, encrypts: 0 };
    const shift = (bytes: Uint8Array, by: number) => bytes.map((byte) => byte + by);
    const start = () =>
      GrpcServer.start({
        endpoint,
        methods: [
          unaryMethod(KMS_METHODS.status, () => ({ version: 'v2', healthz: state.healthz, keyId: state.keyId })),
          unaryMethod(KMS_METHODS.encrypt, ({ plaintext }) => {
            state.encrypts++;
            const annotations = [{ key: 'plugin.example', value: Buffer.from('x') }];
            return { ciphertext: shift(plaintext, 1), keyId: state.keyId, annotations };
          }),
          unaryMethod(KMS_METHODS.decrypt, ({ ciphertext, annotations }) => {
            state.decrypts++;
            if (annotations[0]?.key !== 'plugin.example') throw new Error('the annotations are gone');
            return { plaintext: shift(ciphertext, -1) };
          }),
        ],
      });
    let server = await start();
    const stop = () => server[Symbol.asyncDispose]();
    const restart = async () => {
      server = await start();
    };
    stops.push(stop);
    return { state, stop, restart, provider: `{kms: {apiVersion: v2, name: plugin, endpoint: "${endpoint}"}}` };
  }

  it('encrypts one seed for all values, and is asked for it once after a restart', async () => {
    const { state, provider } = await plugin();
    const store = memory();
    const file = configuration(provider);
    const first = await serve(store, file);
    for (const name of ['a', 'b', 'c']) await first.secrets.create(secret(name));
    expect(await stored(store)).toMatch(/^k8s:enc:kms:v2:plugin:/);
    expect([state.encrypts, state.decrypts]).toEqual([1, 0]);
    await first.server[Symbol.asyncDispose]();
    const second = await serve(store, file);
    const list = await second.secrets.list({ namespace: 'default' });
    expect(list.items.map(({ data }) => data?.password)).toEqual([WORD, WORD, WORD]);
    expect([state.encrypts, state.decrypts]).toEqual([2, 1]);
    expect(await second.path('/healthz/kms-providers')).toMatchObject({ code: 200 });
  });

  it('that changes its key gets another seed, and old values are written again', async () => {
    const { state, provider } = await plugin();
    const encryption = new Encryption({ path: configuration(provider), reload: false }, deps());
    await encryption.start();
    stops.push(() => encryption.stop());
    const store = memory();
    const secrets = encryption.storeFor({ group: '', resource: 'secrets' }, store);
    const { revision } = await secrets.txn({ write: [{ type: 'put', key: KEY, value: Buffer.from('{}') }] });
    expect(await secrets.isStale(KEY, revision)).toBe(false);
    state.keyId = 'key-2';
    await encryption.checkPlugins();
    expect(await secrets.isStale(KEY, revision)).toBe(true);
    expect((await secrets.get(KEY)).entry!.value.toString()).toBe('{}');
    expect(state.encrypts).toBe(2);
  });

  it('is asked for the seed of another server, whose changes come in order', async () => {
    const { state, provider } = await plugin();
    const [one, other] = [0, 1].map(() => new Encryption({ path: configuration(provider), reload: false }, deps()));
    for (const encryption of [one!, other!]) {
      await encryption.start();
      stops.push(() => encryption.stop());
    }
    const [store, otherStore] = [memory(), memory()];
    const foreign = other!.storeFor({ group: '', resource: 'secrets' }, otherStore);
    const seen: string[] = [];
    const done = new Promise<void>((resolve) => {
      const note = (value: string) => {
        seen.push(value);
        if (seen.length === 3) resolve();
      };
      const watch = one!.storeFor({ group: '', resource: 'secrets' }, store).watch(
        { prefix: '/registry/secrets/' },
        {
          events: (batch) => {
            for (const { type, value } of batch) note(type === 'put' ? Buffer.from(value!).toString() : type);
          },
          progress: () => {},
          end: ({ code }) => note(code),
        },
      );
      stops.push(() => watch.cancel());
    });
    for (const value of ['1', '2']) {
      await foreign.txn({ write: [{ type: 'put', key: KEY, value: Buffer.from(value) }] });
      await store.txn({ write: [{ type: 'put', key: KEY, value: (await otherStore.get(KEY)).entry!.value }] });
    }
    await store.txn({ write: [{ type: 'delete', key: KEY }] });
    await done;
    expect(seen).toEqual(['1', '2', 'delete']);
    expect(state.decrypts).toBeGreaterThan(0);
  });

  it('that is unhealthy fails the health checks, and writes without a seed', async () => {
    const { state, provider } = await plugin();
    state.healthz = 'sick';
    const { secrets, path } = await serve(memory(), configuration(provider));
    expect(await path('/readyz/kms-providers')).toMatchObject({ code: 500 });
    await expect(secrets.create(secret('a'))).rejects.toThrow(/unable to encrypt "\/registry\/secrets\/default\/a": .*not ready/);
  });

  it('that is down: the cached seed is used until it expires, and the plugin again once it is back', async () => {
    const { state, provider, stop, restart } = await plugin();
    const clock = new VirtualClock();
    const encryption = new Encryption({ path: configuration(provider), reload: false }, { ...deps(), clock });
    await encryption.start();
    stops.push(() => encryption.stop());
    const store = memory();
    const secrets = encryption.storeFor({ group: '', resource: 'secrets' }, store);
    const put = () => secrets.txn({ write: [{ type: 'put', key: KEY, value: Buffer.from('{}') }] });
    await put();
    await stop();
    await encryption.checkPlugins();
    await put();
    expect((await secrets.get(KEY)).entry!.value.toString()).toBe('{}');
    await clock.advance(181_000);
    await expect(put()).rejects.toThrow(/unable to encrypt "\/registry\/secrets\/default\/a": .*expired/);
    expect((await secrets.get(KEY)).entry!.value.toString()).toBe('{}');
    state.keyId = 'key-2';
    await restart();
    // The client waits before it connects again.
    await clock.advance(60_000);
    await encryption.checkPlugins();
    const { revision } = await put();
    expect(await secrets.isStale(KEY, revision)).toBe(false);
    expect((await secrets.get(KEY)).entry!.value.toString()).toBe('{}');
  });

  it('that is down does not block the start of the server', async () => {
    const endpoint = `unix://${path.join(directory, 'nobody.sock')}`;
    const { client, path: get } = await serve(memory(), configuration(`{kms: {apiVersion: v2, name: p, endpoint: "${endpoint}"}}`));
    await client.of(core.ConfigMap).create({ metadata: { name: 'a', namespace: 'default' } });
    expect(await get('/healthz/kms-providers')).toMatchObject({ code: 500 });
  });
});
