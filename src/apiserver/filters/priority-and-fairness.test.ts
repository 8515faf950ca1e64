import { once } from 'node:events';
import http2 from 'node:http2';
import { afterEach, expect, test } from 'vitest';
import { flowcontrol } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client } from '#client';
import { openMemoryStore } from '#store';
import type { AdmissionPlugin } from '../admission/admission.ts';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { type Answer, sendHttps } from '../https-request.test-setup.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, type ApiServerConfig, startApiServer } from '../server.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

interface Place {
  readonly server: ApiServer;
  readonly client: Client;
}

/** Accepts any user name. */
async function serve(config: Partial<ApiServerConfig>, admission: readonly AdmissionPlugin[] = []): Promise<Place> {
  const store = openMemoryStore({ clock: realClock });
  opened.push({ [Symbol.asyncDispose]: async () => void (await store.close()) });
  const server = startApiServer(
    { version: {}, anonymousAuth: true, listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS }, ...config },
    {
      ...{ store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry(), admission },
      authenticators: [{ authenticate: (request) => ({ name: request.header('x-user') ?? 'nobody', groups: ['system:authenticated'] }) }],
    },
  );
  opened.push(server);
  await server.ready;
  const user = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  return { server, client: new Client(inProcessTransport(server.handle, user, { clock: realClock })) };
}

function send({ server }: Place, path: string, { user = 'jane', method = 'GET', body = '' } = {}): Promise<Answer> {
  return sendHttps(server.port, path, { method, body, headers: { 'x-user': user, ...(body && { 'content-type': 'application/json' }) } });
}

const MAPS = '/api/v1/namespaces/default/configmaps';

test('responses have the uids of flow schema and priority level', async () => {
  const place = await serve({});
  const { headers } = await send(place, MAPS);
  const uidOf = async (kind: typeof flowcontrol.FlowSchema | typeof flowcontrol.PriorityLevelConfiguration) =>
    (await place.client.of(kind as typeof flowcontrol.FlowSchema).get({ name: 'global-default' })).metadata.uid;
  expect([headers['x-kubernetes-pf-flowschema-uid'], headers['x-kubernetes-pf-prioritylevel-uid']]).toEqual([
    await uidOf(flowcontrol.FlowSchema),
    await uidOf(flowcontrol.PriorityLevelConfiguration),
  ]);
});

test('a priority level without queues answers excess requests 429 with Retry-After, and other levels go on', async () => {
  let open: () => void = () => {};
  const opening = new Promise<void>((resolve) => {
    open = resolve;
  });
  let openCount = 0;
  const gate: AdmissionPlugin = {
    name: 'gate',
    operations: ['CREATE'],
    validate: async ({ user, resource }) => {
      if (resource.resource !== 'configmaps' || user.name !== 'noisy') return;
      openCount++;
      await opening;
    },
  };
  const place = await serve({ inFlight: { maxRequestsInFlight: 200, maxMutatingRequestsInFlight: 100 } }, [gate]);
  const limited = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' }, borrowingLimitPercent: 0, lendablePercent: 0 };
  await place.client
    .of(flowcontrol.PriorityLevelConfiguration)
    .create({ metadata: { name: 'narrow' }, spec: { type: 'Limited', limited } });
  const subjects = [{ kind: 'User', user: { name: 'noisy' } }];
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }];
  await place.client.of(flowcontrol.FlowSchema).create({
    metadata: { name: 'narrow' },
    spec: { priorityLevelConfiguration: { name: 'narrow' }, matchingPrecedence: 10, rules: [{ subjects, resourceRules }] },
  });
  const write = (user: string) => send(place, MAPS, { user, method: 'POST', body: '{"metadata":{"generateName":"a-"}}' });
  // Of 300 seats one share of 246 is two.
  const running = [write('noisy'), write('noisy')];
  await expect.poll(() => openCount).toBe(2);
  const rejected = await write('noisy');
  expect(rejected).toMatchObject({ code: 429, body: 'Too many requests, please try again later.\n' });
  expect(rejected.headers).toMatchObject({ 'retry-after': '1', 'x-kubernetes-pf-flowschema-uid': expect.stringMatching(/-/) });
  expect((await write('jane')).code).toBe(201);
  const dump = await send(place, '/debug/api_priority_and_fairness/dump_priority_levels');
  expect(dump.body).toMatch(/^narrow, +0, +false, +false, +0, +2, +2, +1, +0, +0$/m);
  const metrics = (await send(place, '/metrics')).body.split('\n');
  for (const line of [
    'apiserver_flowcontrol_rejected_requests_total{priority_level="narrow",flow_schema="narrow",reason="concurrency-limit"} 1',
    'apiserver_flowcontrol_current_executing_requests{priority_level="narrow",flow_schema="narrow"} 2',
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="narrow"} 2',
    'apiserver_dropped_requests_total{request_kind="mutating"} 1',
  ])
    expect(metrics).toContain(line);
  open();
  expect((await Promise.all(running)).map(({ code }) => code)).toEqual([201, 201]);
});

test('requests that come together, more than one turn takes, are all answered', async () => {
  const place = await serve({});
  const session = http2.connect(`https://127.0.0.1:${place.server.port}`, { rejectUnauthorized: false });
  const ask = async (i: number) => {
    const stream = session.request({ ':path': MAPS, 'x-user': `user ${i % 7}` });
    stream.resume();
    // A short response may be complete at once.
    const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'close')]);
    return headers[':status'];
  };
  const codes = await Promise.all(Array.from({ length: 150 }, (_, i) => ask(i)));
  session.destroy();
  expect(new Set(codes)).toEqual(new Set([200]));
  const dump = await send(place, '/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1');
  expect(dump.body.split('\n')[0]).toMatch(/^PriorityLevelName, +FlowSchemaName, .*SubResource$/);
  expect((await send(place, '/debug/api_priority_and_fairness/dump_queues')).body).toMatch(/^global-default, +\d+, +0, +0, +0, /m);
});

test('without priority and fairness there are neither headers nor dumps', async () => {
  const place = await serve({ priorityAndFairness: false });
  expect((await send(place, MAPS)).headers).not.toHaveProperty('x-kubernetes-pf-flowschema-uid');
  expect((await send(place, '/debug/api_priority_and_fairness/dump_queues')).code).toBe(404);
});
