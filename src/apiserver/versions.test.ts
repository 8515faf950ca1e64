import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import {
  apiextensions,
  apiserverinternalV1alpha1,
  certificatesV1beta1,
  core,
  networking,
  networkingV1beta1,
  resource,
  resourceV1alpha3,
  resourceV1beta1,
  resourceV1beta2,
  schedulingV1alpha2,
  storagemigrationV1beta1,
  storageV1beta1,
} from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore, type Store } from '#store';
import { inProcessTransport } from './in-process/in-process-transport.ts';
import { parseRuntimeConfig } from './registry/runtime-config.ts';
import { type ApiServerConfig, startApiServer } from './server.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
const directory = mkdtempSync(path.join(os.tmpdir(), 'sampan-versions-'));
afterAll(() => rmSync(directory, { recursive: true }));

function memory(): Store {
  const store = openMemoryStore({ clock: realClock });
  stops.push(() => store.close());
  return store;
}

async function serve(config: Partial<ApiServerConfig>, store = memory()) {
  const deps = { clock: realClock, random: seededRandom('versions'), logger: silentLogger, metrics: new MetricsRegistry() };
  const server = startApiServer(
    { version: { major: '1', minor: '36' }, anonymousAuth: false, systemObjects: false, ...config },
    { ...deps, store, admission: [] },
  );
  const stop = () => server[Symbol.asyncDispose]();
  stops.push(stop);
  await server.ready;
  const warnings: string[] = [];
  const transport = inProcessTransport(server.handle, { name: 'jane', groups: [] }, { clock: realClock });
  return { client: new Client(transport, { onWarning: (text) => warnings.push(text) }), transport, warnings, stop, metrics: deps.metrics };
}

const on = (text: string) => ({ runtimeConfig: parseRuntimeConfig(text) });
const CLAIM = { metadata: { name: 'gpu', namespace: 'default' } };

describe('versions of the API', () => {
  test('beta versions are not served unless they are turned on', async () => {
    const { client } = await serve({});
    await expect(client.of(networkingV1beta1.IPAddress).list()).rejects.toMatchObject({ status: { code: 404 } });
  });

  test('a disabled version is not served, and the server works without it', async () => {
    const { client } = await serve(on('flowcontrol.apiserver.k8s.io/v1=false,networking.k8s.io/v1/ipaddresses=false'));
    await expect(client.of(networking.IPAddress).list()).rejects.toMatchObject({ status: { code: 404 } });
    expect((await client.of(networking.ServiceCIDR).list()).items).toEqual([]);
  });

  test('an object written in one version is read in the other', async () => {
    const { client, warnings } = await serve(on('api/all=true'));
    const devices = { requests: [{ name: 'one', deviceClassName: 'gpus', count: 2 }] };
    await client.of(resourceV1beta1.ResourceClaim).create({ ...CLAIM, spec: { devices } } as never);
    const exactly = { deviceClassName: 'gpus', count: 2, allocationMode: 'ExactCount' };
    expect((await client.of(resource.ResourceClaim).get(CLAIM.metadata)).spec).toEqual({
      devices: { requests: [{ name: 'one', exactly }] },
    });
    expect(await client.of(resourceV1beta1.ResourceClaim).get(CLAIM.metadata)).toMatchObject({
      apiVersion: 'resource.k8s.io/v1beta1',
      spec: { devices: { requests: [{ name: 'one', ...exactly }] } },
    });
    expect(warnings).toContain('resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+');
  });

  test('a warning names the version to use instead where upstream does', async () => {
    const { client, warnings } = await serve(on('storage.k8s.io/v1beta1=true'));
    await client.of(storageV1beta1.VolumeAttributesClass).list();
    expect(warnings).toEqual([
      'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
    ]);
  });

  test('discovery prefers the stable version, and lists the others behind it', async () => {
    const { transport } = await serve(on('api/all=true'));
    const group = await transport.request({ method: 'GET', path: '/apis/resource.k8s.io' });
    expect(group).toMatchObject({
      preferredVersion: { version: 'v1' },
      versions: [{ version: 'v1' }, { version: 'v1beta2' }, { version: 'v1beta1' }, { version: 'v1alpha3' }],
    });
  });

  test('a kind behind a feature gate needs the gate as well', async () => {
    const off = await serve(on('api/all=true'));
    await expect(off.client.of(certificatesV1beta1.ClusterTrustBundle).list()).rejects.toMatchObject({ status: { code: 404 } });
    const gated = await serve({ ...on('api/all=true'), featureGates: new Map([['ClusterTrustBundle', true]]) });
    expect((await gated.client.of(certificatesV1beta1.ClusterTrustBundle).list()).items).toEqual([]);
    expect(gated.metrics.text()).toContain('kubernetes_feature_enabled{name="ClusterTrustBundle",stage="BETA"} 1');
  });

  test('groups of pods and workloads are served with their gate, without what other gates are for', async () => {
    const off = await serve(on('api/all=true'));
    await expect(off.client.of(schedulingV1alpha2.PodGroup).list()).rejects.toMatchObject({ status: { code: 404 } });
    const { client } = await serve({ ...on('scheduling.k8s.io/v1alpha2=true'), featureGates: new Map([['GenericWorkload', true]]) });
    const metadata = { name: 'a', namespace: 'default' };
    const gated = { priority: 5, priorityClassName: 'high', schedulingConstraints: { topology: [{ key: 'zone' }] } };
    const policy = { schedulingPolicy: { gang: { minCount: 2 } } };
    const group = await client.of(schedulingV1alpha2.PodGroup).create({ metadata, spec: { ...policy, ...gated } });
    expect(group.spec).toEqual({ ...policy, podGroupTemplateRef: null, disruptionMode: 'Pod' });
    const podGroupTemplates = [{ name: 'g', ...policy, ...gated }];
    const workload = await client.of(schedulingV1alpha2.Workload).create({ metadata, spec: { podGroupTemplates } });
    expect(workload.spec).toEqual({ podGroupTemplates: [{ name: 'g', ...policy, schedulingConstraints: null }] });
  });

  test('a taint rule is stored in the version that the release before can read', async () => {
    const store = memory();
    const { client, warnings } = await serve(on('api/all=true'), store);
    const spec = { taint: { key: 'example.com/broken', effect: 'NoSchedule' } };
    const rule = await client.of(resourceV1beta2.DeviceTaintRule).create({ metadata: { name: 'r' }, spec });
    expect(rule).toMatchObject({ apiVersion: 'resource.k8s.io/v1beta2', metadata: { generation: 1 }, spec });
    expect(rule.spec?.taint.timeAdded).toMatch(/Z$/);
    const { entry } = await store.get('/registry/devicetaintrules/r');
    expect(JSON.parse(Buffer.from(entry!.value).toString()).apiVersion).toBe('resource.k8s.io/v1alpha3');
    expect(warnings).toEqual([]);
    expect((await client.of(resourceV1alpha3.DeviceTaintRule).get({ name: 'r' })).spec).toEqual(rule.spec);
    expect(warnings).toEqual(['resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+']);
  });

  test('a ResourcePoolStatusRequest has no status, and a StorageVersion is stored as written', async () => {
    const { client } = await serve(on('api/alpha=true'));
    const questions = client.of(resourceV1alpha3.ResourcePoolStatusRequest);
    const question = await questions.create({ metadata: { name: 'q' }, spec: { driver: 'd.example.com' }, status: { poolCount: 1 } });
    expect(question).not.toHaveProperty('status');
    const versions = client.of(apiserverinternalV1alpha1.StorageVersion);
    const created = await versions.create({ metadata: { name: 'apps.deployments' } });
    const status = {
      storageVersions: [{ apiServerID: 'a', encodingVersion: 'v1', decodableVersions: ['v1'] }],
      commonEncodingVersion: 'v1',
    };
    expect((await versions.updateStatus({ ...created, status })).status).toEqual(status);
  });

  test('an emulated older release does not serve later versions', async () => {
    const { client, warnings } = await serve({
      ...on('api/all=true'),
      featureGates: new Map([['StorageVersionMigrator', true]]),
      emulation: { emulated: '1.34', minCompatibility: '1.33' },
    });
    await expect(client.of(storagemigrationV1beta1.StorageVersionMigration).list()).rejects.toMatchObject({ status: { code: 404 } });
    await client.of(resourceV1beta1.ResourceClaim).list({ namespace: 'default' });
    expect(warnings).toEqual([]);
  });
});

describe('a storage version migration', () => {
  const cipher = (name: string, fill: number) =>
    `{aesgcm: {keys: [{name: ${name}, secret: ${Buffer.alloc(32, fill).toString('base64')}}]}}`;
  const encryption = (name: string, providers: string) => {
    const file = path.join(directory, name);
    const resources = `[{resources: [secrets], providers: [${providers}]}]`;
    writeFileSync(file, `{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: ${resources}}`);
    return { encryption: { path: file, reload: false } };
  };
  const migrating = { ...on('api/beta=true'), featureGates: new Map([['StorageVersionMigrator', true]]) };
  const conditions = (migration: storagemigrationV1beta1.StorageVersionMigration) =>
    (migration.status?.conditions ?? []).map(({ type, reason }) => ({ type, reason }));

  test('encrypts every secret with the new key', async () => {
    const store = memory();
    const first = await serve(encryption('one.yaml', cipher('one', 1)), store);
    const names = ['a', 'b', 'c'];
    for (const name of names)
      await first.client.of(core.Secret).create({ metadata: { name, namespace: 'default' }, data: { word: 'eA==' } });
    await first.stop();

    const { client } = await serve({ ...migrating, ...encryption('two.yaml', `${cipher('two', 2)}, ${cipher('one', 1)}`) }, store);
    const migrations = client.of(storagemigrationV1beta1.StorageVersionMigration);
    await migrations.create({ metadata: { name: 'secrets' }, spec: { resource: { group: '', resource: 'secrets' } } });
    await vi.waitFor(async () => expect(conditions(await migrations.get({ name: 'secrets' }))).toHaveLength(2), { timeout: 20_000 });
    expect(conditions(await migrations.get({ name: 'secrets' }))).toEqual([
      { type: 'Running', reason: 'StorageVersionMigrationInProgress' },
      { type: 'Succeeded', reason: 'StorageVersionMigrationSucceeded' },
    ]);
    for (const name of names) {
      const value = Buffer.from((await store.get(`/registry/secrets/default/${name}`)).entry!.value).toString('latin1');
      expect(value.slice(0, 24)).toBe('k8s:enc:aesgcm:v1:two:'.padEnd(24, value.slice(22, 24)));
    }
  });

  test('of a custom resource ends with the versions in which objects are stored', async () => {
    const store = memory();
    const { client } = await serve(migrating, store);
    const definitions = client.of(apiextensions.CustomResourceDefinition);
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = (stored: string) => ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === stored, schema }));
    const names = { plural: 'widgets', kind: 'Widget' };
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions: versions('v1') };
    await definitions.create({ metadata: { name: 'widgets.example.com' }, spec } as never);
    const widgets = client.resource({ group: 'example.com', version: 'v1', resource: 'widgets', namespaced: true });
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'default' } };
    await expect.poll(() => widgets.create(widget as never).catch(() => undefined)).toBeDefined();
    await definitions.patch({ name: 'widgets.example.com' }, { spec: { versions: versions('v2') } });
    const status = async () => (await definitions.get({ name: 'widgets.example.com' })).status;
    await expect.poll(async () => (await status())?.storedVersions).toEqual(['v1', 'v2']);

    const migrations = client.of(storagemigrationV1beta1.StorageVersionMigration);
    await migrations.create({ metadata: { name: 'widgets' }, spec: { resource: { group: 'example.com', resource: 'widgets' } } });
    await expect.poll(async () => (await status())?.storedVersions).toEqual(['v2']);
    expect((await status())?.conditions?.find(({ type }) => type === 'StorageMigrating')).toMatchObject({
      status: 'False',
      reason: 'MigrationSucceeded',
      message: 'The migration has succeeded and the stored versions have been updated',
    });
    const { entry } = await store.get('/registry/example.com/widgets/default/a');
    expect(JSON.parse(Buffer.from(entry!.value).toString()).apiVersion).toBe('example.com/v2');
  });

  test('fails for a resource without list and patch', async () => {
    const { client } = await serve(migrating);
    const migrations = client.of(storagemigrationV1beta1.StorageVersionMigration);
    await migrations.create({ metadata: { name: 'bindings' }, spec: { resource: { group: '', resource: 'Bad_Name' } } }).then(
      () => expect.fail('a bad name was taken'),
      (error: unknown) => expect(String(error)).toContain('spec.resource.resource: Invalid value: "Bad_Name"'),
    );
  });
});
