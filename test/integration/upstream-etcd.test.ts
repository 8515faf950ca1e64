import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { admissionregistration, apiextensions, apps, core, networking, resource } from '#api';
import { inProcessTransport, startApiServer } from '#apiserver';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openEtcdStore, type Store } from '#store';
import { type EtcdMembers, startEtcd } from '../../src/store/contract/etcd-members.ts';

/** Protobuf encoded and decoded by hand, independently of the codec under test. */
type Part = readonly [number, string | number | Buffer];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

function message(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.flatMap(([field, value]) => {
      if (typeof value === 'number') return [varint(field * 8), varint(value)];
      const bytes = Buffer.from(value);
      return [varint(field * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}

/** The storage format of upstream: `k8s\0`, and a runtime.Unknown. */
function upstream(apiVersion: string, kind: string, object: Buffer): Buffer {
  const unknown = message([1, message([1, apiVersion], [2, kind])], [2, object], [3, ''], [4, '']);
  return Buffer.concat([Buffer.from('k8s\0'), unknown]);
}

/** The fields of a message by number; of repeated ones the last. */
function fields(bytes: Buffer): Map<number, Buffer> {
  const byNumber = new Map<number, Buffer>();
  let at = 0;
  const next = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte % 128) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = next();
    const length = tag % 8 === 2 ? next() : 0;
    if (tag % 8 === 0) next();
    byNumber.set(Math.floor(tag / 8), bytes.subarray(at, at + length));
    at += length;
  }
  return byNumber;
}

const at = (name: string) => ({ name, namespace: 'default' });
const META = (name: string, namespace = '') =>
  message([1, name], [2, ''], [3, namespace], [4, ''], [5, `uid-of-${name}`], [6, ''], [7, 1], [8, message([1, 1_700_000_000], [2, 0])]);
const NAMED = (name: string) => META(name, 'default');
const CONTAINER = message([1, 'main'], [2, 'main:1'], [14, 'IfNotPresent']);
const SELECTOR = message([1, message([1, 'app'], [2, 'web'])]);
const TEMPLATE = message([1, message([11, message([1, 'app'], [2, 'web'])])], [2, message([2, CONTAINER], [3, 'Always'])]);

const SETTINGS = '/registry/configmaps/default/settings';
const POLICY = {
  matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }] },
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}]' } }],
  reinvocationPolicy: 'Never',
};

/** The etcd content of an upstream cluster, including special keys. */
const CLUSTER: Readonly<Record<string, Buffer>> = {
  '/registry/namespaces/default': upstream(
    'v1',
    'Namespace',
    message([1, META('default')], [2, message([1, 'kubernetes'])], [3, message([1, 'Active'])]),
  ),
  '/registry/minions/worker': upstream('v1', 'Node', message([1, META('worker')], [2, message([1, '10.1.0.0/24'])], [3, message()])),
  '/registry/configmaps/default/settings': upstream(
    'v1',
    'ConfigMap',
    message([1, NAMED('settings')], [2, message([1, 'color'], [2, 'blue'])]),
  ),
  '/registry/services/specs/default/web': upstream(
    'v1',
    'Service',
    message(
      [1, NAMED('web')],
      [
        2,
        message(
          [1, message([1, 'http'], [2, 'TCP'], [3, 80], [4, message([1, 0], [2, 8080], [3, ''])])],
          [3, '10.96.0.77'],
          [4, 'ClusterIP'],
        ),
      ],
    ),
  ),
  '/registry/services/endpoints/default/web': upstream(
    'v1',
    'Endpoints',
    message([1, NAMED('web')], [2, message([1, message([1, '10.1.0.9'])], [3, message([2, 8080])])]),
  ),
  '/registry/controllers/default/old': upstream(
    'v1',
    'ReplicationController',
    message([1, NAMED('old')], [2, message([1, 2], [2, message([1, 'app'], [2, 'web'])], [3, TEMPLATE])]),
  ),
  '/registry/deployments/default/web': upstream(
    'apps/v1',
    'Deployment',
    message([1, NAMED('web')], [2, message([1, 3], [2, SELECTOR], [3, TEMPLATE])]),
  ),
  // Stored as beta by the previous release and older ones.
  '/registry/mutatingadmissionpolicies/policy': upstream(
    'admissionregistration.k8s.io/v1beta1',
    'MutatingAdmissionPolicy',
    message([1, META('policy')], [2, message([5, 'Ignore'], [7, 'Never'])]),
  ),
  '/registry/resourceclaims/default/gpu': upstream(
    'resource.k8s.io/v1beta1',
    'ResourceClaim',
    message([1, NAMED('gpu')], [2, message([1, message([1, message([1, 'one'], [2, 'gpus'], [4, 'ExactCount'], [5, 2])])])]),
  ),
  // A cluster that was configured to store JSON.
  '/registry/ingress/default/web': Buffer.from(
    `${JSON.stringify({ kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: { ingressClassName: 'main' }, status: { loadBalancer: {} } })}\n`,
  ),
  '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com': Buffer.from(
    JSON.stringify({
      kind: 'CustomResourceDefinition',
      // The encoding that upstream writes in every release so far.
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      metadata: { name: 'widgets.example.com', uid: 'd', creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        scope: 'Namespaced',
        validation: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
        versions: [{ name: 'v1', served: true, storage: true }],
        conversion: { strategy: 'None' },
        preserveUnknownFields: false,
      },
      status: {
        conditions: ['NamesAccepted', 'Established'].map((type) => ({
          type,
          status: 'True',
          lastTransitionTime: '2024-01-01T00:00:00Z',
          reason: 'R',
          message: '',
        })),
        acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        storedVersions: ['v1'],
      },
    }),
  ),
  // Custom resources are stored with sorted members.
  '/registry/example.com/widgets/default/one': Buffer.from(
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":1,"name":"one","namespace":"default","uid":"w"},"spec":{"size":4}}\n',
  ),
};

describe.runIf(spawnSync('etcd', ['--version']).status === 0)("an upstream cluster's etcd", () => {
  let etcd: EtcdMembers;
  let store: Store;
  const stops: (() => PromiseLike<unknown>)[] = [];

  beforeEach(async () => {
    etcd = await startEtcd();
    store = await openEtcdStore({ endpoints: etcd.endpoints });
    stops.push(
      () => etcd[Symbol.asyncDispose](),
      () => store.close(),
    );
    await store.txn({ write: Object.entries(CLUSTER).map(([key, value]) => ({ type: 'put', key, value }) as const) });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  async function serve(config: Partial<Parameters<typeof startApiServer>[0]> = {}) {
    const deps = { clock: realClock, random: seededRandom('takeover'), logger: silentLogger, metrics: new MetricsRegistry() };
    const server = startApiServer(
      { version: { major: '1', minor: '36' }, anonymousAuth: false, systemObjects: false, ...config },
      { ...deps, store, admission: [] },
    );
    stops.push(() => server[Symbol.asyncDispose]());
    await server.ready;
    const transport = inProcessTransport(server.handle, { name: 'jane', groups: [] }, { clock: realClock });
    return new Client(transport);
  }
  const raw = async (key: string) => Buffer.from((await store.get(key)).entry!.value);

  test('is read, whatever the encoding, version and place of a value', async () => {
    const client = await serve();
    expect(await client.of(core.Node).get({ name: 'worker' })).toMatchObject({
      metadata: { uid: 'uid-of-worker' },
      spec: { podCIDR: '10.1.0.0/24' },
    });
    expect(await client.of(core.ConfigMap).get(at('settings'))).toMatchObject({
      metadata: { creationTimestamp: '2023-11-14T22:13:20Z' },
      data: { color: 'blue' },
    });
    expect(await client.of(core.Service).get(at('web'))).toMatchObject({
      spec: { clusterIP: '10.96.0.77', ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    });
    expect(await client.of(core.Endpoints).get(at('web'))).toMatchObject({
      subsets: [{ addresses: [{ ip: '10.1.0.9' }], ports: [{ port: 8080 }] }],
    });
    expect(await client.of(core.ReplicationController).get(at('old'))).toMatchObject({ spec: { replicas: 2, selector: { app: 'web' } } });
    expect(await client.of(apps.Deployment).get(at('web'))).toMatchObject({
      spec: { replicas: 3, template: { spec: { containers: [{ name: 'main', image: 'main:1' }] } } },
    });
    expect(await client.of(admissionregistration.MutatingAdmissionPolicy).get({ name: 'policy' })).toMatchObject({
      apiVersion: 'admissionregistration.k8s.io/v1',
      spec: { failurePolicy: 'Ignore', reinvocationPolicy: 'Never' },
    });
    expect(await client.of(resource.ResourceClaim).get(at('gpu'))).toMatchObject({
      spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpus', allocationMode: 'ExactCount', count: 2 } }] } },
    });
    expect(await client.of(networking.Ingress).get(at('web'))).toMatchObject({ spec: { ingressClassName: 'main' } });
    const widgets = client.resource({ group: 'example.com', version: 'v1', resource: 'widgets', namespaced: true });
    expect(await widgets.get(at('one'))).toMatchObject({ metadata: { name: 'one' }, spec: { size: 4 } });
  });

  test('is written as upstream writes it', async () => {
    const client = await serve({ storageMediaType: 'application/vnd.kubernetes.protobuf' });
    const maps = client.of(core.ConfigMap);
    const settings = await maps.get(at('settings'));
    await maps.update({ ...settings, data: { color: 'red' } });
    const stored = await raw('/registry/configmaps/default/settings');
    expect(stored.subarray(0, 4).toString('latin1')).toBe('k8s\0');
    const unknown = fields(stored.subarray(4));
    const type = fields(unknown.get(1)!);
    expect([type.get(1)?.toString(), type.get(2)?.toString()]).toEqual(['v1', 'ConfigMap']);
    const object = fields(unknown.get(2)!);
    const entry = fields(object.get(2)!);
    expect([entry.get(1)?.toString(), entry.get(2)?.toString()]).toEqual(['color', 'red']);
    expect(fields(object.get(1)!).get(5)?.toString()).toBe('uid-of-settings');

    await client.of(admissionregistration.MutatingAdmissionPolicy).create({ metadata: { name: 'label-pods' }, spec: POLICY });
    const envelope = fields((await raw('/registry/mutatingadmissionpolicies/label-pods')).subarray(4));
    expect(fields(envelope.get(1)!).get(1)?.toString()).toBe('admissionregistration.k8s.io/v1beta1');

    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com';
    const before = JSON.parse((await raw(key)).toString());
    const widgets = { name: 'widgets.example.com' };
    const definitions = client.of(apiextensions.CustomResourceDefinition);
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
    const versions = [{ name: 'v1', served: true, storage: true, schema, additionalPrinterColumns: columns }];
    expect((await definitions.get(widgets)).spec.versions).toEqual(versions);
    await definitions.patch(widgets, { metadata: { labels: { color: 'red' } } });
    const { metadata: _, ...written } = JSON.parse((await raw(key)).toString());
    expect(written).toEqual({ ...before, metadata: undefined });
  });

  test('may have another prefix', async () => {
    await store.txn({ write: [{ type: 'put', key: '/other/configmaps/default/settings', value: CLUSTER[SETTINGS]! }] });
    const client = await serve({ keyPrefix: '/other' });
    expect((await client.of(core.ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(['settings']);
    expect((await client.of(core.Node).list()).items).toEqual([]);
  });

  test('tells the key of a value in a version that nobody knows', async () => {
    const key = SETTINGS;
    await store.txn({ write: [{ type: 'put', key, value: upstream('v9', 'ConfigMap', message([1, NAMED('settings')])) }] });
    const client = await serve();
    await expect(client.of(core.ConfigMap).get(at('settings'))).rejects.toThrow(
      `unable to transform key "${key}": no kind "ConfigMap" is registered for version "v9"`,
    );
  });
});
