import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realClock, silentLogger, systemRandom } from '#base';
import type { Client } from '#client';
import { startCluster } from '#cluster';
import { openMemoryStore } from '#store';

const directory = mkdtempSync(join(tmpdir(), 'sampan-encrypted-kinds-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Creation {
  readonly path: string;
  readonly body: object;
}

interface RecordedStep extends Partial<Creation> {
  readonly method?: string;
  readonly expect?: { readonly status: number };
}

/** Kinds that add APIs; `OTHERS` has one, and the server has its own APIServices. */
const FOREIGN = /apiservices|customresourcedefinitions/;

/** An object of each kind that the recordings create. */
function recordedCreations(): readonly Creation[] {
  const file = resolve(import.meta.dirname, '../oracle/golden/kinds.json');
  const text = readFileSync(file, 'utf8')
    .replaceAll(/\$\{ns\}/g, 'default')
    .replaceAll(/\$\{rand\}/g, 'rand');
  const { scenarios } = JSON.parse(text) as { scenarios: { steps: RecordedStep[] }[] };
  const creations = new Map<string, Creation>();
  for (const { method, path, body, expect: answer } of scenarios.flatMap(({ steps }) => steps)) {
    if (
      method === 'POST' &&
      path !== undefined &&
      !FOREIGN.test(path) &&
      body !== undefined &&
      answer?.status === 201 &&
      !creations.has(path)
    )
      creations.set(path, { path, body });
  }
  return [...creations.values()].sort((a, b) => rank(a) - rank(b));
}

/** Objects that restrict others are created last. */
function rank({ path }: Creation): number {
  return /quotas|limitranges|admissionregistration/.test(path) ? 1 : 0;
}

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] };
const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const versions = [{ name: 'v1', served: true, storage: true, schema }];
const OTHERS: readonly Creation[] = [
  { path: '/api/v1/namespaces/default/podtemplates', body: { metadata: { name: 'a' }, template } },
  { path: '/apis/apps/v1/namespaces/default/controllerrevisions', body: { metadata: { name: 'a' }, data: { a: 1 }, revision: 1 } },
  {
    path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates',
    body: { metadata: { name: 'a' }, spec: { spec: { devices } } },
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: { metadata: { name: 'widgets.example.com' }, spec: { group: 'example.com', scope: 'Namespaced', names, versions } },
  },
  {
    path: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
    body: { metadata: { name: 'a' }, spec: { policyName: 'a' } },
  },
];

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

interface GroupList {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

async function resourcePaths(get: (path: string) => Promise<unknown>): Promise<readonly string[]> {
  const { groups } = (await get('/apis')) as GroupList;
  const roots = ['/api/v1', ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`))];
  const lists = await Promise.all(roots.map(async (root) => ({ root, ...((await get(root)) as ResourceList) })));
  return lists.flatMap(({ root, resources }) =>
    resources.filter(({ verbs }) => verbs.includes('create') && verbs.includes('list')).map(({ name }) => `${root}/${name}`),
  );
}

test('objects of every kind are encrypted in the store when the configuration covers all resources', async () => {
  const file = join(directory, 'encryption.yaml');
  const keys = `[{name: one, secret: ${Buffer.alloc(32, 1).toString('base64')}}]`;
  const rule = `{resources: ['*.*'], providers: [{aesgcm: {keys: ${keys}}}]}`;
  writeFileSync(file, `{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: [${rule}]}`);
  await using store = openMemoryStore({ clock: realClock });
  await using cluster = startCluster(
    { apiServer: { encryption: { path: file, reload: false } } },
    { store, clock: realClock, random: systemRandom, logger: silentLogger },
  );
  await cluster.ready;
  const { transport } = cluster.client as Client;
  const get = (path: string) => transport.request({ method: 'GET', path });
  for (const { path, body } of [...OTHERS.slice(0, -1), ...recordedCreations(), ...OTHERS.slice(-1)]) {
    // A missing kind is reported below.
    await transport.request({ method: 'POST', path, body }).catch(() => {});
  }
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, secret: 'x' };
  await expect
    .poll(() =>
      transport.request({ method: 'POST', path: '/apis/example.com/v1/namespaces/default/widgets', body: widget }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const paths = await resourcePaths(get);
  const counts = await Promise.all(paths.map(async (path) => ({ path, count: ((await get(path)) as { items: unknown[] }).items.length })));
  expect(paths).toContain('/apis/example.com/v1/widgets');
  expect(counts.filter(({ count }) => count === 0)).toEqual([]);
  const page = await store.range({ prefix: '/registry/' });
  const entries = page.status === 'ok' ? page.entries : [];
  const plain = entries.filter(({ value }) => !Buffer.from(value).toString('latin1').startsWith('k8s:enc:aesgcm:v1:one:'));
  expect(plain.map(({ key }) => key)).toEqual([]);
});
