import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { core } from '#api';
import { realClock, seededRandom } from '#base';
import type { JsonObject } from '#machinery';
import { openMemoryStore, type Store } from '#store';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { fieldsOf, hostileValue, withValue } from './hostile-values.ts';

// No pod spec that reaches the scheduler and a kubelet's worker may affect other pods.

const PODS = '/api/v1/namespaces/default/pods';
const COUNT = Number(process.env.HOSTILE_PODS ?? 800);
const SEED = Number(process.env.HOSTILE_SEED ?? 1);
const POLL = { timeout: 60_000, interval: 200 };
const ENGINE_ERROR = /\b(Type|Range|Reference|Syntax)Error\b/;

let store: Store;
let hostile: HostileCluster;
const faults: unknown[] = [];
const onFault = (error: unknown) => void faults.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', onFault);
  process.on('uncaughtException', onFault);
  store = openMemoryStore({ clock: realClock });
  // Enough nodes for all pods.
  const nodes = Array.from({ length: 10 }, (_, i) => ({ type: 'simulated' as const, name: `n${i}` }));
  hostile = await startHostileCluster({ store, nodes });
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
  process.off('unhandledRejection', onFault);
  process.off('uncaughtException', onFault);
});

/** Pods with one field of their spec changed to an edge-case value. */
function* hostilePods(seed: number): Iterable<JsonObject> {
  const random = seededRandom(seed);
  const probe = { exec: { command: ['true'] } };
  const container = {
    name: 'c',
    image: 'busybox',
    env: [{ name: 'A', value: '$(B)' }],
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
    livenessProbe: probe,
  };
  const spec = { containers: [container], initContainers: [{ name: 'i', image: 'busybox' }], volumes: [{ name: 'v', emptyDir: {} }] };
  const fields = fieldsOf(core.Pod).filter(({ path: [root, ...rest] }) => root === 'spec' && rest.length > 0);
  for (let i = 0; i < COUNT; i++) {
    const { path, schema } = random.pick(fields);
    const placed = random.int(2) === 0 ? { nodeName: `n${random.int(10)}` } : {};
    const base = { kind: 'Pod', apiVersion: 'v1', metadata: { name: `p${seed}-${i}`, namespace: 'default' }, spec: { ...spec, ...placed } };
    const length = random.int(20) === 0 ? 20_000 : 100;
    const changed = withValue(base as unknown as JsonObject, path, hostileValue(schema, random, length)) as JsonObject;
    yield changed;
  }
}

async function expectGoodPod(name: string): Promise<void> {
  const body = JSON.stringify({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'busybox' }] } });
  expect((await hostile.send(PODS, { method: 'POST', token: ADMIN_TOKEN, body })).code).toBe(201);
  const phase = async () => JSON.parse((await hostile.send(`${PODS}/${name}`, { token: ADMIN_TOKEN })).body).status?.phase;
  await expect.poll(phase, POLL).toBe('Running');
}

async function deletePods(): Promise<void> {
  await hostile.send(`${PODS}?gracePeriodSeconds=0`, { method: 'DELETE', token: ADMIN_TOKEN });
  await vi.waitUntil(async () => JSON.parse((await hostile.send(PODS, { token: ADMIN_TOKEN })).body).items.length === 0, POLL);
}

test(`${COUNT} pods that validation may accept make nothing throw that is not foreseen (seed ${SEED})`, { timeout: 300_000 }, async () => {
  let accepted = 0;
  for (const pod of hostilePods(SEED)) {
    const { code } = await hostile.send(PODS, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(pod) });
    if (code === 201) accepted++;
  }
  expect(accepted).toBeGreaterThan(COUNT / 100);
  await expectGoodPod('good');
  await deletePods();
  expect(hostile.logged.filter((line) => ENGINE_ERROR.test(line)).slice(0, 3)).toEqual([]);
  expect(faults).toEqual([]);
});

test(`${COUNT} pods that no validation has seen leave the cluster at work (seed ${SEED})`, { timeout: 300_000 }, async () => {
  for (const pod of hostilePods(SEED + 1)) {
    const { name } = pod.metadata as { name: string };
    const metadata = { name, namespace: 'default', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
    const key = `/registry/pods/default/${name}`;
    await store.txn({ write: [{ type: 'put', key, value: Buffer.from(JSON.stringify({ ...pod, metadata })) }] });
  }
  await expectGoodPod('better');
  expect(faults).toEqual([]);
});
