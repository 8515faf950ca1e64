import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { core } from '#api';
import { type Random, realClock, seededRandom } from '#base';
import { apiVersionOf, type JsonObject } from '#machinery';
import { openMemoryStore, type Store } from '#store';
import { baseObject } from './base-objects.ts';
import type { Target } from './generator.ts';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { type FieldPath, fieldsOf, hostileValue, withValue } from './hostile-values.ts';

// Unvalidated objects of every kind, as a damaged store might contain: the cluster starts, works and stops regardless.

const COUNT = Number(process.env.HOSTILE_OBJECTS ?? 500);
const SEED = Number(process.env.HOSTILE_SEED ?? 1);
const POLL = { timeout: 90_000, interval: 500 };
const LABELS = { app: 'good' };
const DEFAULT = '/api/v1/namespaces/default';

/** These decide about valid objects too, so they are kept away from those. */
const ELSEWHERE = new Set(['resourcequotas', 'limitranges']);

let store: Store;
let hostile: HostileCluster;
const faults: unknown[] = [];
const onFault = (error: unknown) => void faults.push(error);

interface StoredTarget extends Target {
  readonly prefix: string;
}

/** The stored kinds, each in its storage version. */
function storedTargets({ cluster }: HostileCluster): readonly StoredTarget[] {
  return [...cluster.apiServer.table.all()].flatMap((resource) => {
    const { storage, storedAs } = resource;
    return storage === undefined || storedAs !== undefined ? [] : [{ ...resource, prefix: storage.cache.prefix }];
  });
}

/** A damaged object: one to three of its fields have edge-case values. */
function spoilt(target: StoredTarget, fields: readonly FieldPath[], random: Random): JsonObject {
  const base = { ...baseObject({ ...target, apiVersion: apiVersionOf(target) }) };
  let object: JsonObject = base;
  for (let i = 0; i <= random.int(3); i++) {
    const { path, schema } = random.pick(fields);
    const isIdentity = path[0] === 'kind' || path[0] === 'apiVersion';
    if (!isIdentity) object = withValue(object, path, hostileValue(schema, random, random.int(50) === 0 ? 20_000 : 100)) as JsonObject;
  }
  return object;
}

async function spoil(targets: readonly StoredTarget[]): Promise<void> {
  const random = seededRandom(SEED);
  const fields = new Map(targets.map((target) => [target, fieldsOf(target.schema)]));
  for (let i = 0; i < COUNT; i++) {
    const target = targets[i % targets.length]!;
    const object = spoilt(target, fields.get(target)!, random);
    const name = `spoilt-${i}`;
    const namespace = ELSEWHERE.has(target.resource) ? 'kube-public' : 'default';
    const identity = { name, ...(target.namespaced && { namespace }), uid: `uid-${i}`, creationTimestamp: '2026-01-01T00:00:00Z' };
    const { kind, apiVersion, metadata, ...rest } = object;
    const stored = { kind, apiVersion, metadata: random.int(20) === 0 ? metadata : { ...(metadata as object), ...identity }, ...rest };
    const key = `${target.prefix}${target.namespaced ? `${namespace}/` : ''}${name}`;
    await store.txn({ write: [{ type: 'put', key, value: Buffer.from(JSON.stringify(stored)) }] });
  }
}

beforeAll(async () => {
  process.on('unhandledRejection', onFault);
  process.on('uncaughtException', onFault);
  store = openMemoryStore({ clock: realClock });
  hostile = await startHostileCluster({ store });
  const targets = storedTargets(hostile);
  await hostile.cluster[Symbol.asyncDispose]();
  await spoil(targets);
  hostile = await startHostileCluster({ store, nodes: [{ type: 'simulated', name: 'n1' }] });
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
  process.off('unhandledRejection', onFault);
  process.off('uncaughtException', onFault);
});

async function post(path: string, object: object): Promise<void> {
  const { code, body } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
  expect([code, body]).toEqual([201, expect.anything()]);
}

const read = async <T>(path: string) => JSON.parse((await hostile.send(path, { token: ADMIN_TOKEN })).body) as T;

describe(`a cluster whose store has ${COUNT} spoilt objects (seed ${SEED})`, () => {
  test('starts, and runs what is good', async () => {
    expect(await hostile.send('/readyz')).toMatchObject({ code: 200 });
    const containers = [{ name: 'c', image: 'busybox' }];
    // Some damaged objects look like nodes.
    const template = { metadata: { labels: LABELS }, spec: { containers, nodeSelector: { 'kubernetes.io/hostname': 'n1' } } };
    const spec = { replicas: 2, selector: { matchLabels: LABELS }, template };
    await post('/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'good' }, spec });
    await post(`${DEFAULT}/services`, { metadata: { name: 'good' }, spec: { selector: LABELS, ports: [{ port: 80 }] } });
    const ready = async () =>
      (await read<{ status?: { readyReplicas?: number } }>('/apis/apps/v1/namespaces/default/deployments/good')).status?.readyReplicas;
    await expect.poll(ready, POLL).toBe(2);
    const addresses = async () => {
      const { subsets = [] } = await read<core.Endpoints>(`${DEFAULT}/endpoints/good`);
      return subsets.flatMap(({ addresses: names = [] }) => names).length;
    };
    await expect.poll(addresses, POLL).toBe(2);
  });

  test('lists every one of them', async () => {
    const formats = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/json;as=Table;g=meta.k8s.io;v=v1'];
    // By now there are thousands of events about the other objects.
    const listed = [...hostile.cluster.apiServer.table.all()].filter(
      ({ resource, verbs, custom }) => !custom && resource !== 'events' && verbs.includes('list'),
    );
    for (const [i, { group, version, resource }] of listed.entries()) {
      const accept = formats[(i + SEED) % formats.length]!;
      const path = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`;
      const { code } = await hostile.send(path, { token: ADMIN_TOKEN, headers: { accept } });
      expect([path, accept, code]).toEqual([path, accept, 200]);
    }
  });

  test('lets go of what was good', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments/good';
    expect((await hostile.send(path, { method: 'DELETE', token: ADMIN_TOKEN })).code).toBe(200);
    const pods = async () => (await read<{ items: core.Pod[] }>(`${DEFAULT}/pods?labelSelector=app%3Dgood`)).items.length;
    await expect.poll(pods, POLL).toBe(0);
    expect(faults).toEqual([]);
  });
});
