import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '#base';
import { openMemoryStore, type Store } from '#store';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';

// Two objects of every kind of workload, one of which cannot be handled: that one is quarantined, the other is processed.

const POLL = { timeout: 90_000, interval: 500 };
const TEMPLATE = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'busybox' }] } };
const BOGUS = { matchExpressions: [{ key: 'a', operator: 'Bogus', values: ['b'] }] };

type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  readonly kind: string;
  readonly path: string;
  /** The directory of the store. */
  readonly prefix: string;
  readonly spec: Fields;
  /** Replaces fields of the spec. */
  readonly poison: Fields;
  /** A field of the status that the controller writes, and its value. */
  readonly served: readonly [field: string, value: unknown];
}

const labels = (kind: string) => ({ app: `good-${kind.toLowerCase()}` });
const workload = (kind: string): Fields => ({
  selector: { matchLabels: labels(kind) },
  template: { ...TEMPLATE, metadata: { labels: labels(kind) } },
});

const KINDS: readonly Kind[] = [
  {
    kind: 'Deployment',
    path: '/apis/apps/v1/namespaces/default/deployments',
    prefix: 'deployments',
    spec: workload('Deployment'),
    poison: { selector: BOGUS },
    served: ['readyReplicas', 1],
  },
  {
    kind: 'ReplicaSet',
    path: '/apis/apps/v1/namespaces/default/replicasets',
    prefix: 'replicasets',
    spec: workload('ReplicaSet'),
    poison: { selector: BOGUS },
    served: ['readyReplicas', 1],
  },
  {
    kind: 'StatefulSet',
    path: '/apis/apps/v1/namespaces/default/statefulsets',
    prefix: 'statefulsets',
    spec: { ...workload('StatefulSet'), serviceName: 'a' },
    poison: { selector: BOGUS },
    served: ['readyReplicas', 1],
  },
  {
    kind: 'DaemonSet',
    path: '/apis/apps/v1/namespaces/default/daemonsets',
    prefix: 'daemonsets',
    spec: workload('DaemonSet'),
    poison: { selector: BOGUS },
    served: ['numberReady', 1],
  },
  {
    kind: 'Job',
    path: '/apis/batch/v1/namespaces/default/jobs',
    prefix: 'jobs',
    spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } },
    poison: { selector: BOGUS },
    served: ['succeeded', 1],
  },
];

let store: Store;
let hostile: HostileCluster;

async function post(path: string, object: object): Promise<void> {
  const { code, body } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
  expect([code, body]).toEqual([201, expect.anything()]);
}

/** Writes what the API would reject. */
async function poison({ prefix, poison }: Kind): Promise<void> {
  const key = `/registry/${prefix}/default/bad`;
  const { entry } = await store.get(key);
  const object = JSON.parse(Buffer.from(entry!.value).toString()) as { spec: Fields };
  const value = Buffer.from(JSON.stringify({ ...object, spec: { ...object.spec, ...poison } }));
  await store.txn({ write: [{ type: 'put', key, value }] });
}

beforeAll(async () => {
  store = openMemoryStore({ clock: realClock });
  hostile = await startHostileCluster({ store, controllerManager: { controllers: ['serviceaccount-controller'] } });
  for (const { path, spec } of KINDS) await post(path, { metadata: { name: 'bad' }, spec });
  await hostile.cluster[Symbol.asyncDispose]();
  for (const kind of KINDS) await poison(kind);
  hostile = await startHostileCluster({ store, nodes: [{ type: 'simulated', name: 'n1' }] });
});
afterAll(() => hostile[Symbol.asyncDispose]());

async function read<T>(path: string): Promise<T> {
  return JSON.parse((await hostile.send(path, { token: ADMIN_TOKEN })).body) as T;
}

interface Event {
  readonly reason: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

async function quarantines(kind: string): Promise<string[]> {
  const { items } = await read<{ items: Event[] }>('/api/v1/namespaces/default/events');
  const about = ({ involvedObject, reason }: Event) => reason === 'Quarantined' && involvedObject.kind === kind;
  return items.filter(about).map(({ involvedObject }) => involvedObject.name);
}

describe.each(KINDS)('a $kind that its controller cannot handle', ({ kind, path, spec, served: [field, value] }) => {
  test('does not hold up another one', async () => {
    await post(path, { metadata: { name: 'good' }, spec });
    const status = async () => (await read<{ status?: Fields }>(`${path}/good`)).status?.[field];
    await expect.poll(status, POLL).toBe(value);
  });

  test('says so in one event', async () => {
    await expect.poll(() => quarantines(kind), POLL).toEqual(['bad']);
  });
});
