import { expect, test } from 'vitest';
import { apiextensions, apps, batch, core, events } from '#api';
import { createLogger, realClock } from '#base';
import { startCluster } from '#testing';

const VIRTUAL = { nodes: 0, clock: 'virtual' } as const;
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('a cron job whose schedule never comes gets an InvalidSchedule event, on creation and on update', async () => {
  await using cluster = await startCluster(VIRTUAL);
  const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } };
  const cronJobs = cluster.client.of(batch.CronJob);
  const never = '59 23 31 2 *';
  await cronJobs.create({ metadata: { name: 'new', namespace: 'default' }, spec: { schedule: never, jobTemplate } } as never);
  await cronJobs.create({ metadata: { name: 'old', namespace: 'default' }, spec: { schedule: '0 0 1 1 *', jobTemplate } } as never);
  await cronJobs.patch({ name: 'old', namespace: 'default' }, { spec: { schedule: never } });
  const reported = async () => {
    const { items } = await cluster.client.of(core.Event).list({ namespace: 'default' });
    return items.filter(({ reason }) => reason === 'InvalidSchedule').map(({ involvedObject, message }) => [involvedObject.name, message]);
  };
  const message = `invalid schedule: ${never} : time difference between two schedules is less than 1 second`;
  await cluster.waitFor(async () => (await reported()).length === 2);
  expect((await reported()).sort()).toEqual([
    ['new', message],
    ['old', message],
  ]);
});

test('a system namespace and the kubernetes service are created again when they are deleted', async () => {
  await using cluster = await startCluster(VIRTUAL);
  const namespaces = cluster.client.of(core.Namespace);
  const services = cluster.client.of(core.Service);
  const key = { name: 'kubernetes', namespace: 'default' };
  const before = (await namespaces.get({ name: 'kube-node-lease' })).metadata.uid;
  const { clusterIP } = (await services.get(key)).spec ?? {};
  await namespaces.delete({ name: 'kube-node-lease' });
  await services.delete(key);
  await cluster.waitFor(async () => {
    const { metadata } = await namespaces.get({ name: 'kube-node-lease' });
    return metadata.uid !== before;
  });
  expect((await services.get(key)).spec?.clusterIP).toBe(clusterIP);
});

test('a new stateful set has collisionCount 0', async () => {
  await using cluster = await startCluster(VIRTUAL);
  const spec = { selector: { matchLabels: { a: 'b' } }, serviceName: 's', template };
  await cluster.client.of(apps.StatefulSet).create({ metadata: { name: 'db', namespace: 'default' }, spec } as never);
  await cluster.waitFor(async () => {
    const { status } = await cluster.client.of(apps.StatefulSet).get({ name: 'db', namespace: 'default' });
    return status?.collisionCount === 0;
  });
});

test('controllers forget a custom resource whose definition is deleted without an error', async () => {
  const failures: unknown[] = [];
  const logger = createLogger({ level: 'warn', clock: realClock, write: (line) => void failures.push(line) });
  await using cluster = await startCluster({ ...VIRTUAL, logger });
  const definitions = cluster.client.of(apiextensions.CustomResourceDefinition);
  const names = { plural: 'widgets', kind: 'Widget' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions };
  await definitions.create({ metadata: { name: 'widgets.example.com' }, spec } as never);
  await cluster.apply('{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {count/widgets.example.com: "5"}}}');
  // Quotas count a new kind with their next full recount.
  await cluster.waitFor(() => cluster.apply('{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}'), { within: '10m' });
  await cluster.clock.advance('2m');
  await definitions.delete({ name: 'widgets.example.com' });
  await cluster.clock.advance('10m');
  expect(failures).toEqual([]);
});

test.each(['/openapi/v2', '/openapi/v3/version'])('the document %s has the minor release as its version', async (path) => {
  await using cluster = await startCluster(VIRTUAL);
  const document = JSON.parse(await cluster.client.transport.text({ method: 'GET', path })) as { info: { version: string } };
  expect(document.info.version).toBe('1.36');
});

test('the field selector source finds events of events.k8s.io by their reporting controller', async () => {
  await using cluster = await startCluster(VIRTUAL);
  await cluster.client.of(events.Event).create({
    metadata: { name: 'reported', namespace: 'default' },
    ...{ eventTime: '2026-01-01T00:00:00.000000Z', type: 'Normal', reason: 'Tested', action: 'Testing' },
    ...{ reportingController: 'example.com/tester', reportingInstance: 'tester-1' },
    regarding: { namespace: 'default' },
  } as never);
  const bySource = async (source: string) => {
    const { items } = await cluster.client.of(core.Event).list({ namespace: 'default', fieldSelector: `source=${source}` });
    return items.map(({ metadata }) => metadata.name);
  };
  expect(await bySource('example.com/tester')).toEqual(['reported']);
  expect(await bySource('example.com/other')).toEqual([]);
});

test('OpenAPI describes apiVersion and kind of custom resources', async () => {
  await using cluster = await startCluster(VIRTUAL);
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions };
  await cluster.client.of(apiextensions.CustomResourceDefinition).create({ metadata: { name: 'widgets.example.com' }, spec } as never);
  const read = async (path: string) => JSON.parse(await cluster.client.transport.text({ method: 'GET', path }));
  await cluster.waitFor(async () => (await read('/openapi/v2')).definitions['com.example.v1.Widget'] !== undefined);
  const v2 = await read('/openapi/v2');
  const v3 = await read('/openapi/v3/apis/example.com/v1');
  const described = { apiVersion: { description: /^APIVersion defines / }, kind: { description: /^Kind is / } };
  for (const { properties } of [v2.definitions['com.example.v1.Widget'], v3.components.schemas['com.example.v1.Widget']])
    for (const [name, { description }] of Object.entries(described)) expect(properties[name].description).toMatch(description);
});
