import { expect, test } from 'vitest';
import { admissionregistration, flowcontrol, type meta, rbac } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { startApiServer } from '../server.ts';

/** A server with all its system objects, and a client with all rights. */
async function serve(clock = new VirtualClock(), store = openMemoryStore({ clock }), hasAdmission = false) {
  const random = seededRandom(1);
  const metrics = new MetricsRegistry();
  const deps = { store, clock, random, logger: silentLogger, metrics, ...(!hasAdmission && { admission: [] }) };
  const server = startApiServer({ version: {}, anonymousAuth: false }, deps);
  await server.ready;
  const client = new Client(inProcessTransport(server.handle, { name: 'tester', groups: ['system:masters'] }, { clock }));
  return { client, metrics, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const writers = ({ managedFields = [] }: meta.ObjectMeta) =>
  managedFields.map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`.trim());

/** The schema after its status was written. */
async function settled(client: Client, name: string): Promise<flowcontrol.FlowSchema> {
  for await (const event of client.of(flowcontrol.FlowSchema).watch({ sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK') continue;
    if (event.object.metadata.name === name && event.object.status?.conditions) return event.object;
  }
  throw new Error('the watch ended first');
}

test('bootstrap flow schemas have the field managers of upstream', async () => {
  await using server = await serve();
  const { metadata, status } = await settled(server.client, 'exempt');
  expect(status?.conditions).toMatchObject([{ type: 'Dangling', status: 'False', reason: 'Found' }]);
  expect(writers(metadata)).toEqual([
    'api-priority-and-fairness-config-consumer-v1 Apply status',
    'api-priority-and-fairness-config-producer-v1 Update',
  ]);
});

test('a second start of the API server creates no system object again', async () => {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  const first = await serve(clock, store);
  await settled(first.client, 'exempt');
  await first[Symbol.asyncDispose]();
  await using second = await serve(clock, store);
  const creates = second.metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{') && line.includes('verb="POST"'));
  expect(creates).toEqual([]);
});

const DOWN = {
  name: 'down.example.com',
  rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
  clientConfig: { url: 'https://127.0.0.1:1/' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
};

/** A store of an earlier server, in which a webhook that does not answer has to admit every write. */
async function storeWithWebhook(change: (client: Client) => Promise<unknown>) {
  const clock = new VirtualClock();
  const store = openMemoryStore({ clock });
  await using first = await serve(clock, store, true);
  const configuration = { metadata: { name: 'down' }, webhooks: [DOWN] };
  await first.client.of(admissionregistration.ValidatingWebhookConfiguration).create(configuration as never);
  await change(first.client);
  return { clock, store };
}

test('a server starts again while the webhook that has to admit every write does not answer', async () => {
  const { clock, store } = await storeWithWebhook(async () => {});
  await using second = await serve(clock, store, true);
  expect(await second.client.of(flowcontrol.FlowSchema).get({ name: 'exempt' })).toMatchObject({ metadata: { name: 'exempt' } });
});

test('what a webhook keeps a start from writing is written once the webhook is gone', async () => {
  const { clock, store } = await storeWithWebhook(async (client) => {
    await client.of(rbac.ClusterRole).delete({ name: 'view' });
    await client.of(flowcontrol.FlowSchema).delete({ name: 'probes' });
  });
  await using second = await serve(clock, store, true);
  const { client } = second;
  const ready = () => client.transport.text({ method: 'GET', path: '/readyz/system-objects' });
  await expect(ready()).rejects.toThrow('system-objects is not ready');
  expect(await client.transport.text({ method: 'GET', path: '/livez' })).toBe('ok');
  await expect(client.of(rbac.ClusterRole).get({ name: 'view' })).rejects.toThrow('not found');
  await client.of(admissionregistration.ValidatingWebhookConfiguration).delete({ name: 'down' });
  for (let attempt = 0; attempt < 100 && (await ready().catch(() => '')) !== 'ok'; attempt++) {
    await clock.advance(1000);
    await realClock.sleep(20);
  }
  expect(await ready()).toBe('ok');
  expect(await client.of(rbac.ClusterRole).get({ name: 'view' })).toMatchObject({ metadata: { name: 'view' } });
  expect(await client.of(flowcontrol.FlowSchema).get({ name: 'probes' })).toMatchObject({ metadata: { name: 'probes' } });
});
