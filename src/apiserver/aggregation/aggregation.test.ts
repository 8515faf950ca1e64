import https from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import { apiregistration, core, discovery } from '#api';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { Client, discover, type Transport } from '#client';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import type { Handler } from '../handlers/api-response.ts';
import { type Answer, sendHttps } from '../https-request.test-setup.ts';
import { inProcessTransport } from '../in-process/in-process-transport.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { type ExtensionOptions, type ExtensionServer, extensionServer, GROUP } from './extension-server.test-data.ts';

const NAME = `v1.${GROUP}`;
const API = `/apis/${GROUP}/v1`;
const APPLES = `${API}/namespaces/default/apples`;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

interface Place {
  readonly server: ApiServer;
  readonly extension: ExtensionServer;
  readonly client: Client;
  readonly transport: Transport;
}

const USER = { name: 'tester', groups: ['devs', 'system:authenticated'], extra: { 'example.com/team': ['a'] } };

async function start(options: ExtensionOptions & { readonly systemObjects?: boolean } = {}): Promise<Place> {
  const extension = await extensionServer(options);
  opened.push(extension);
  const store = openMemoryStore({ clock: realClock });
  opened.push({ [Symbol.asyncDispose]: async () => void (await store.close()) });
  const server = startApiServer(
    {
      version: { major: '1', minor: '36' },
      anonymousAuth: true,
      systemObjects: options.systemObjects ?? false,
      listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS },
      aggregation: { proxyClient: extension.frontProxy },
    },
    { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() },
  );
  opened.push(server);
  await server.ready;
  const transport = inProcessTransport(server.handle, USER, { clock: realClock });
  const client = new Client(transport);
  if (!options.systemObjects) await client.of(core.Namespace).create({ metadata: { name: 'default' } });
  return { server, extension, client, transport };
}

async function register({ client, extension }: Place, spec: Partial<apiregistration.APIServiceSpec> = {}): Promise<void> {
  const reference = { name: 'fruit', namespace: 'default', port: extension.port };
  await client.of(apiregistration.APIService).create({
    metadata: { name: NAME },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 10,
      versionPriority: 5,
      caBundle: Buffer.from(extension.authority.certificate).toString('base64') as never,
      service: reference,
      ...spec,
    },
  });
}

/** A service name that resolves to this machine: endpoints must not be on loopback. */
async function expose({ client }: Place): Promise<void> {
  await client
    .of(core.Service)
    .create({ metadata: { name: 'fruit', namespace: 'default' }, spec: { type: 'ExternalName', externalName: 'localhost' } });
}

/** `STATUS REASON: MESSAGE`, once it has this reason. */
async function condition({ client }: Place, reason: string): Promise<string> {
  for await (const event of client.of(apiregistration.APIService).watch({ sendInitialEvents: true })) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== NAME) continue;
    const available = event.object.status?.conditions?.find(({ type }) => type === 'Available');
    if (available?.reason === reason) return `${available.status} ${available.reason}: ${available.message}`;
  }
  throw new Error('the watch ended first');
}

async function serveFruit(options: ExtensionOptions = {}): Promise<Place> {
  const place = await start(options);
  await expose(place);
  await register(place);
  await condition(place, 'Passed');
  return place;
}

function send({ server }: Place, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return sendHttps(server.port, path, { headers });
}

/** The extension server's last request for this path; the API server sends it other requests too. */
function lastRequest({ extension }: Place, path: string) {
  return extension.requests.findLast((request) => request.path === path)!;
}

describe('the Available condition', () => {
  test('has a reason for each missing part', async () => {
    const place = await start();
    const { client } = place;
    await register(place, { service: { name: 'fruit', namespace: 'default' } });
    expect(await condition(place, 'ServiceNotFound')).toBe('False ServiceNotFound: service/fruit in "default" is not present');
    const metadata = { name: 'fruit', namespace: 'default' };
    const service = await client.of(core.Service).create({ metadata, spec: { clusterIP: 'None', ports: [{ port: 80 }] } });
    expect(await condition(place, 'ServicePortError')).toBe(
      'False ServicePortError: service/fruit in "default" is not listening on port 443',
    );
    await client.of(core.Service).update({ ...service, spec: { ...service.spec, ports: [{ port: 443 }] } });
    expect(await condition(place, 'EndpointsNotFound')).toBe(
      'False EndpointsNotFound: cannot find endpointslices for service/fruit in "default"',
    );
    await client.of(discovery.EndpointSlice).create({
      metadata: { name: 'fruit-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'fruit' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }],
      ports: [{ name: '', port: 8443 }],
    });
    expect(await condition(place, 'MissingEndpoints')).toBe(
      'False MissingEndpoints: endpointslices for service/fruit in "default" have no addresses with port name ""',
    );
  });

  test('is true once the server serves the version, and false after it stops', async () => {
    const place = await serveFruit();
    expect(await condition(place, 'Passed')).toBe('True Passed: all checks passed');
    const url = `https://localhost:${place.extension.port}${API}`;
    place.extension.answer(API, (_, response) => response.writeHead(500).end());
    // Any change of the service triggers a new check.
    const service = await place.client.of(core.Service).get({ name: 'fruit', namespace: 'default' });
    await place.client.of(core.Service).update({ ...service, metadata: { ...service.metadata, labels: { a: 'b' } } });
    expect(await condition(place, 'FailedDiscoveryCheck')).toBe(
      `False FailedDiscoveryCheck: failing or missing response from ${url}: bad status from ${url}: 500`,
    );
    expect(await send(place, `${APPLES}/red`)).toMatchObject({ code: 503, body: 'service unavailable\n' });
  });

  test('is false for a server whose certificate is of another authority', async () => {
    const place = await start();
    await expose(place);
    const other = await extensionServer();
    opened.push(other);
    await register(place, { caBundle: Buffer.from(other.authority.certificate).toString('base64') as never });
    expect(await condition(place, 'FailedDiscoveryCheck')).toContain('certificate signed by unknown authority');
    expect(place.extension.requests).toEqual([]);
  });
});

describe('a request for an aggregated API', () => {
  test("is forwarded with the user's headers, without credentials", async () => {
    const place = await serveFruit();
    const answer = await send(place, `${APPLES}/red?pretty=1`, {
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-mine': '1',
    });
    expect([answer.code, JSON.parse(answer.body)]).toMatchObject([200, { kind: 'Apple' }]);
    const last = lastRequest(place, `${APPLES}/red`);
    expect([last.user, last.groups, last.headers['x-mine']]).toEqual(['system:anonymous', ['system:unauthenticated'], '1']);
  });

  test('carries the uid, groups and extras of the user', async () => {
    const place = await serveFruit();
    expect(await place.transport.request({ method: 'GET', path: `${APPLES}/red` })).toMatchObject({ kind: 'Apple' });
    const last = lastRequest(place, `${APPLES}/red`);
    expect([last.user, last.groups, last.headers['x-remote-extra-example.com%2fteam']]).toEqual(['tester', USER.groups, 'a']);
  });

  test.each([`${API}//apples`, `${API}/namespaces//apples`, `${API}//`])(
    '%s was authorized as no resource, and stays here',
    async (path) => {
      const place = await serveFruit();
      expect((await send(place, path)).code).toBe(404);
      expect(place.extension.requests.filter((request) => request.path.includes('//'))).toEqual([]);
    },
  );

  test('is 503 while the server is unavailable', async () => {
    const place = await start();
    await register(place);
    await condition(place, 'ServiceNotFound');
    expect(await send(place, API)).toMatchObject({ code: 503, body: 'service unavailable\n' });
  });

  test('streams a watch, over the network and in-process', async () => {
    const place = await serveFruit();
    const first = await new Promise<string>((resolve, reject) => {
      const request = https.get(
        { host: '127.0.0.1', port: place.server.port, path: `${APPLES}?watch=1`, rejectUnauthorized: false, agent: false },
        (response) => response.once('data', (chunk) => resolve(String(chunk)) ?? request.destroy()),
      );
      request.once('error', reject);
    });
    expect(JSON.parse(first)).toMatchObject({ type: 'ADDED', object: { kind: 'Apple' } });
    const seen = await new Promise((resolve, reject) => {
      const query = new URLSearchParams({ watch: 'true' });
      const watch = place.transport.watch(
        { method: 'GET', path: APPLES, query },
        {
          event: (type, object) => {
            resolve([type, object.metadata.name]);
            queueMicrotask(() => watch[Symbol.dispose]());
          },
          bookmark: () => {},
          error: reject,
          end: () => reject(new Error('it ended')),
        },
      );
    });
    expect(seen).toEqual(['ADDED', 'red']);
  });

  test('can be upgraded', async () => {
    const place = await serveFruit();
    const echoed = await new Promise<string>((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'echo' };
      const request = https.get({
        host: '127.0.0.1',
        port: place.server.port,
        path: `${APPLES}/red/peel`,
        headers,
        rejectUnauthorized: false,
      });
      request.once('upgrade', (_, socket) => {
        socket.write('hello');
        socket.once('data', (chunk) => {
          resolve(String(chunk));
          socket.destroy();
        });
      });
      request.once('error', reject);
    });
    expect([echoed, lastRequest(place, `${APPLES}/red/peel`).user]).toEqual(['hello', 'system:anonymous']);
  });

  test('does not follow redirects of the server', async () => {
    const place = await serveFruit({
      own: { [APPLES]: (_, response) => response.writeHead(302, { location: 'https://evil.example.com/' }).end() },
    });
    expect(await send(place, APPLES)).toMatchObject({
      code: 502,
      body: 'the backend attempted to redirect this request, which is not permitted',
    });
  });

  test('whose response is cut off fails', async () => {
    const place = await serveFruit({
      own: {
        [APPLES]: (_, response) => {
          response.writeHead(200, { 'content-length': 1000 }).write('{');
          setImmediate(() => response.destroy());
        },
      },
    });
    await expect(send(place, APPLES)).rejects.toThrow('aborted');
  });
});

describe('discovery', () => {
  const aggregatedOf = async (place: Place) => {
    const { body } = await send(place, '/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' });
    const { items } = JSON.parse(body) as { items: { metadata: { name: string }; versions: { freshness: string }[] }[] };
    return items.find(({ metadata }) => metadata.name === GROUP)?.versions[0];
  };

  test.each([true, false])("lists the server's resources (aggregated discovery: %s)", async (hasAggregatedDiscovery) => {
    const place = await serveFruit({ hasAggregatedDiscovery });
    await expect.poll(async () => (await aggregatedOf(place))?.freshness).toBe('Current');
    expect(await aggregatedOf(place)).toMatchObject({
      version: 'v1',
      resources: [
        {
          resource: 'apples',
          responseKind: { group: GROUP, version: 'v1', kind: 'Apple' },
          scope: 'Namespaced',
          shortNames: ['ap'],
          subresources: [{ subresource: 'peel', responseKind: { kind: 'Peel' } }],
        },
      ],
    });
    const { resources, failures } = await discover(place.transport);
    expect(resources.find(({ group }) => group === GROUP)).toMatchObject({ resource: 'apples', kind: 'Apple' });
    expect(failures.size).toBe(0);
  });

  test('marks the group as stale while the server is down', async () => {
    const place = await start({ systemObjects: true });
    await register(place);
    await condition(place, 'ServiceNotFound');
    expect(await aggregatedOf(place)).toEqual({ version: 'v1', freshness: 'Stale' });
    const { groups } = JSON.parse((await send(place, '/apis')).body) as { groups: { name: string }[] };
    expect(groups.at(-1)?.name).toBe(GROUP);
    expect(groups[0]?.name).toBe('apiregistration.k8s.io');
    expect(JSON.parse((await send(place, `/apis/${GROUP}`)).body)).toMatchObject({ name: GROUP, preferredVersion: { version: 'v1' } });
    const { failures } = await discover(place.transport);
    expect([...failures.keys()]).toEqual([`${GROUP}/v1`]);
  });

  test.each([
    ['is too long', Buffer.alloc(5 << 20, 0x20).toString()],
    ['is no JSON', 'apples'],
    ['is of other types', '{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":7},"versions":"many"}]}'],
  ])('does without an answer that %s', async (_, body) => {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const place = await serveFruit({ own: { '/apis': (__, response) => response.writeHead(200, { 'content-type': type }).end(body) } });
    expect((await aggregatedOf(place))?.freshness).toBe('Stale');
    expect((await send(place, `${APPLES}/red`)).code).toBe(200);
  });

  test('forgets an API that is no longer registered', async () => {
    const place = await serveFruit();
    await place.client.of(apiregistration.APIService).delete({ name: NAME });
    await expect.poll(() => aggregatedOf(place)).toBeUndefined();
    expect((await send(place, `${APPLES}/red`)).code).toBe(404);
  });
});

describe('OpenAPI', () => {
  interface Document {
    readonly paths: Record<string, { serverRelativeURL?: string; get?: { responses: Record<string, { description: string }> } }>;
    readonly definitions: Record<string, { description?: string }>;
    readonly components: { schemas: Record<string, unknown> };
  }
  const document = async (place: Place, path: string) => JSON.parse((await send(place, path)).body) as Document;

  test("merges the server's own paths only", async () => {
    const place = await serveFruit();
    await expect.poll(async () => Object.keys((await document(place, '/openapi/v2')).definitions)).toContain('com.example.fruit.v1.Apple');
    const v2 = await document(place, '/openapi/v2');
    expect(v2.definitions['com.example.fruit.v1.Apple']?.description).toContain('doctor');
    expect(v2.definitions).not.toHaveProperty('Unused');
    expect(v2.paths[`${APPLES.replace('default', '{namespace}')}/{name}`]).toBeDefined();
    expect(v2.paths['/api/v1/pods']?.get?.responses[200]?.description).not.toBe('a lie');
    const { paths } = await document(place, '/openapi/v3');
    expect(paths[API.slice(1)]).toEqual({ serverRelativeURL: `/openapi/v3${API}?hash=A` });
    expect(paths['api/v1']?.serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=/);
    expect((await document(place, `/openapi/v3${API}?hash=A`)).components.schemas).toHaveProperty(['com.example.fruit.v1.Apple']);
  });

  test('v3 is converted from v2 for a server without v3', async () => {
    const place = await serveFruit({ hasV3: false });
    await expect.poll(async () => (await document(place, '/openapi/v3')).paths[API.slice(1)]?.serverRelativeURL).toMatch(/\?hash=/);
    const v3 = await document(place, `/openapi/v3${API}`);
    expect(v3.components.schemas).toHaveProperty(['com.example.fruit.v1.Apple', 'properties', 'color']);
    expect(JSON.stringify(v3.paths)).toContain('{"$ref":"#/components/schemas/com.example.fruit.v1.Apple"}');
  });

  test('ignores a document that is nested too deep', async () => {
    const place = await serveFruit({
      own: { '/openapi/v2': (_, response) => response.end(`{"paths":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`) },
    });
    expect((await send(place, '/openapi/v2')).code).toBe(200);
    expect((await send(place, `${APPLES}/red`)).code).toBe(200);
  });
});

test('an in-process add-on serves its aggregated API without a network or a service', async () => {
  const place = await start();
  const users: string[] = [];
  const handler: Handler = (request) => {
    users.push(request.user?.name ?? '');
    if (request.path === API) {
      const resources = [{ name: 'apples', singularName: 'apple', namespaced: true, kind: 'Apple', verbs: ['get'] }];
      return { type: 'plain', code: 200, object: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources } };
    }
    if (request.path === `${APPLES}/red`) return { type: 'plain', code: 200, object: { kind: 'Apple', apiVersion: `${GROUP}/v1` } };
    return { type: 'plain', code: 404, object: { kind: 'Status', apiVersion: 'v1', code: 404, status: 'Failure', reason: 'NotFound' } };
  };
  const mounted = place.server.aggregation.mount({ namespace: 'kube-system', name: 'addon', port: 443 }, handler);
  await register(place, {
    service: { name: 'addon', namespace: 'kube-system' },
    insecureSkipTLSVerify: true,
    caBundle: undefined as never,
  });
  expect(await condition(place, 'Passed')).toBe('True Passed: all checks passed');
  expect(await place.transport.request({ method: 'GET', path: `${APPLES}/red` })).toMatchObject({ kind: 'Apple' });
  expect(users.at(-1)).toBe('tester');
  mounted[Symbol.dispose]();
  await condition(place, 'ServiceNotFound');
});
