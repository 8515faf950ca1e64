import { once } from 'node:events';
import http2 from 'node:http2';
import { describe, expect, test } from 'vitest';
import type { Answer } from './https-request.test-setup.ts';
import type { ApiServer } from './server.ts';
import { MAPS, send, serve } from './serving.test-setup.ts';

const MAP = '{"metadata":{"name":"a"}}';

describe('health', () => {
  test('checks are counted by name and endpoint', async () => {
    const server = await serve();
    await send(server, '/livez');
    await send(server, '/livez?exclude=ping');
    const { code, body } = await send(server, '/metrics/slis');
    expect(code).toBe(200);
    expect(body).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1\n');
    expect(body).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1\n');
  });

  test.each([
    ['/livez', 200, /^ok$/],
    ['/livez/ping', 200, /^ok$/],
    ['/healthz/etcd', 200, /^ok$/],
    ['/readyz/nothing', 404, /^404 page not found$/],
    ['/livez/shutdown', 404, /^404 page not found$/],
    ['/readyz?verbose', 200, /^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]etcd ok\n[\s\S]*\[\+\]shutdown ok\nreadyz check passed$/],
    ['/readyz?verbose&exclude=etcd', 200, /^\[\+\]etcd excluded: ok$/m],
    ['/livez?verbose&exclude=nothing', 200, /^warn: some health checks cannot be excluded: no matches for "nothing"$/m],
  ])('%s', async (path, code, body) => {
    const server = await serve();
    const answer = await send(server, path);
    expect(answer.code).toBe(code);
    expect(answer.body.trim()).toMatch(body);
  });

  test.each(['/healthz', '/livez', '/readyz'])('%s names the checks that clients of upstream look for', async (path) => {
    const hooks = [
      ...['start-apiserver-admission-initializer', 'generic-apiserver-start-informers', 'storage-readiness', 'crd-informer-synced'],
      ...['start-apiextensions-informers', 'start-apiextensions-controllers', 'bootstrap-controller', 'start-system-namespaces-controller'],
      ...['start-service-ip-repair-controllers', 'scheduling/bootstrap-system-priority-classes', 'kube-apiserver-autoregistration'],
      ...['start-cluster-authentication-info-controller', 'start-kube-aggregator-informers', 'apiservice-registration-controller'],
      ...['apiservice-status-local-available-controller', 'apiservice-status-remote-available-controller', 'apiservice-openapi-controller'],
    ];
    const names = ['ping', 'log', 'etcd', 'autoregister-completion', ...hooks.map((name) => `poststarthook/${name}`)];
    const lines = (await send(await serve(), `${path}?verbose`)).body.split('\n');
    expect(lines).toEqual(expect.arrayContaining(names.map((name) => `[+]${name} ok`)));
  });
});

test('the Audit-Id header comes from the client, or is generated', async () => {
  const server = await serve();
  expect((await send(server, '/livez', { headers: { 'audit-id': 'mine' } })).headers['audit-id']).toBe('mine');
  expect((await send(server, '/livez')).headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('OpenAPI of a group without lists or deletion has no types for them', async () => {
  const { body } = await send(await serve(), '/openapi/v3/apis/authorization.k8s.io/v1');
  const names = Object.keys((JSON.parse(body) as { components: { schemas: object } }).components.schemas);
  expect(names).toContain('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  expect(names.filter((name) => /meta\.v1\.(DeleteOptions|ListMeta|Patch|Status|WatchEvent)$/.test(name))).toEqual([]);
});

test('authentication, authorization and deprecated APIs are counted', async () => {
  const server = await serve();
  await send(server, '/api/v1/namespaces/default/endpoints');
  const { body } = await send(server, '/metrics');
  expect(body).toMatch(/^authentication_attempts\{result="success"\} [1-9]/m);
  expect(body).toMatch(/^authenticated_user_requests\{username="other"\} [1-9]/m);
  expect(body).toMatch(/^authorization_attempts_total\{result="allowed"\} [1-9]/m);
  expect(body).toMatch(/^authorization_duration_seconds_count\{result="allowed"\} [1-9]/m);
  const endpoints = 'group="",version="v1",resource="endpoints",subresource="",removed_release=""';
  expect(body).toContain(`apiserver_requested_deprecated_apis{${endpoints}} 1`);
});

test('large responses are compressed if the client accepts gzip', async () => {
  const server = await serve();
  const plain = await send(server, '/openapi/v2');
  expect(plain.headers['content-encoding']).toBeUndefined();
  const { headers } = await send(server, '/openapi/v2', { headers: { 'accept-encoding': 'gzip' } });
  expect(headers['content-encoding']).toBe('gzip');
  expect(headers.etag).toBe(plain.headers.etag);
  expect(Number(headers['content-length'])).toBeLessThan(plain.body.length / 2);
});

test("metrics have upstream's names", async () => {
  const server = await serve();
  await send(server, MAPS, { method: 'POST', body: MAP });
  const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
  const watch = session.request({ ':path': `${MAPS}?watch=1&resourceVersion=0` });
  await once(watch, 'data');
  await send(server, MAPS);
  const { body } = await send(server, '/metrics');
  const labels = 'group="",version="v1",resource="configmaps",subresource=""';
  for (const line of [
    `apiserver_request_total{verb="POST",${labels},scope="resource",component="apiserver",dry_run="",code="201"} 1`,
    `apiserver_request_total{verb="LIST",${labels},scope="namespace",component="apiserver",dry_run="",code="200"} 1`,
    `apiserver_request_duration_seconds_count{verb="LIST",${labels},scope="namespace",component="apiserver",dry_run=""} 1`,
    `apiserver_longrunning_requests{verb="WATCH",${labels},scope="namespace",component="apiserver"} 1`,
    'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
    'apiserver_current_inflight_requests{request_kind="mutating"} 0',
    'apiserver_storage_objects{resource="configmaps"} 1',
    'apiserver_resource_objects{group="",resource="configmaps"} 1',
    'apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 1',
    'kubernetes_build_info{major="",minor="",git_version="",platform=""} 1',
    'etcd_requests_total{operation="create",group="",resource="configmaps"} 1',
    'etcd_request_duration_seconds_count{operation="create",group="",resource="configmaps"} 1',
  ]) {
    expect(body.split('\n')).toContain(line);
  }
  session.destroy();
});

describe('a patch', () => {
  const patch = (server: ApiServer, path: string, { type = 'merge-patch', body = '' }) =>
    send(server, path, { method: 'PATCH', body, headers: { 'content-type': `application/${type}+json` } });
  const message = async (answer: Promise<Answer>) => JSON.parse((await answer).body).message as string;

  test('of a missing object is 404 even if it is malformed', async () => {
    const server = await serve();
    for (const type of ['json-patch', 'merge-patch', 'strategic-merge-patch'])
      expect(await message(patch(server, `${MAPS}/a`, { type, body: '{' }))).toBe('configmaps "a" not found');
  });

  test('that is malformed has a shorter message with fieldValidation=Ignore', async () => {
    const server = await serve();
    await send(server, MAPS, { method: 'POST', body: MAP });
    const end = 'unexpected end of JSON input';
    expect(await message(patch(server, `${MAPS}/a`, { body: '{' }))).toBe(`error decoding patch: ${end}`);
    expect(await message(patch(server, `${MAPS}/a?fieldValidation=Ignore`, { body: '{' }))).toBe('Invalid JSON Patch');
    expect(await message(patch(server, `${MAPS}/a?fieldValidation=Ignore`, { type: 'json-patch', body: '[' }))).toBe(end);
  });

  test('that leaves no valid apiVersion and kind is rejected', async () => {
    const server = await serve();
    await send(server, MAPS, { method: 'POST', body: MAP });
    const { code, body } = await patch(server, `${MAPS}/a`, { body: '{"apiVersion":5}' });
    expect(code).toBe(422);
    const detail = 'json: cannot unmarshal number into Go struct field .apiVersion of type string';
    expect(JSON.parse(body).message).toContain(`couldn't get version/kind; json parse error: ${detail}`);
    const list = patch(server, `${MAPS}/a?fieldValidation=Ignore`, { body: '[{"a":null}]' });
    expect(await message(list)).toContain('"[{}]": couldn\'t get version/kind');
  });
});

describe('a path', () => {
  test.each(['/', '/index.html', '/apis', '/apis/apps', '/openapi/v3'])('%s serves discovery for every method', async (path) => {
    expect(await send(await serve(), path, { method: 'DELETE' })).toMatchObject({ code: 200 });
  });

  test.each(['/version', '/api', '/api/v1', '/apis/apps/v1', '/apis/apiregistration.k8s.io'])('%s rejects other methods', async (path) => {
    expect(await send(await serve(), path, { method: 'DELETE' })).toMatchObject({ code: 405 });
  });

  test('with doubled slashes below a group is 404', async () => {
    const { code, headers } = await send(await serve(), '/apis/apps//v1');
    expect(code).toBe(404);
    expect(headers['content-type']).toBe('application/json');
    expect(await send(await serve(), '/apis//apps/v1')).toMatchObject({ code: 404, body: '404 page not found\n' });
  });

  test('of a namespace inside a namespace is 404', async () => {
    const server = await serve();
    expect(await send(server, '/api/v1/namespaces/default/namespaces')).toMatchObject({ code: 404 });
  });

  test('may select a name that needs escaping', async () => {
    const server = await serve();
    const selector = encodeURIComponent('metadata.name=a\\,b');
    expect(await send(server, `${MAPS}?fieldSelector=${selector}`)).toMatchObject({ code: 200 });
  });

  test('with a resourceVersion beyond uint64 is rejected', async () => {
    const { code, body } = await send(await serve(), `${MAPS}?resourceVersion=99999999999999999999`);
    expect(code).toBe(400);
    expect(JSON.parse(body).message).toMatch(/parsing "99999999999999999999": value out of range$/);
  });
});

describe('the Accept header', () => {
  const get = async (path: string, accept: string) => send(await serve(), path, { headers: { accept } });

  test('with an unsupported type is 406 before the request is handled', async () => {
    const { code, body } = await get(MAPS, 'text/html');
    expect(code).toBe(406);
    expect(JSON.parse(body)).toMatchObject({ reason: 'NotAcceptable', details: {} });
    expect(JSON.parse(body).message).toMatch(
      /protobuf, application\/json;stream=watch, application\/vnd.kubernetes.protobuf;stream=watch$/,
    );
  });

  test('does not add a deprecation warning to a 406', async () => {
    expect((await get('/api/v1/componentstatuses', 'application/json')).headers.warning).toMatch(/ComponentStatus is deprecated/);
    expect((await get('/api/v1/componentstatuses', 'text/html')).headers.warning).toBeUndefined();
  });

  test('is ignored at the root; /version must accept JSON', async () => {
    expect(await get('/', 'text/html')).toMatchObject({ code: 200, headers: { 'content-type': 'application/json' } });
    const { code, body } = await get('/version', 'text/plain');
    expect(code).toBe(406);
    expect(JSON.parse(body).message).toBe('406: Not Acceptable\n\nAvailable representations: application/json');
  });

  test('can request aggregated discovery as protobuf', async () => {
    const type = 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { headers, body } = await get('/apis', type);
    expect(headers['content-type']).toBe(type);
    expect(body).toContain('APIGroupDiscoveryList');
  });

  test('with an unknown includeObject in a watch of tables is rejected', async () => {
    const { code, body } = await get(`${MAPS}?watch=1&includeObject=All`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    expect(code).toBe(400);
    expect(JSON.parse(body).message).toMatch(/^Unable to convert to Table as requested/);
  });
});

describe('JSON', () => {
  const lines = (body: string) => body.trimEnd().split('\n').length;

  test.each([
    ['', 'curl/8.0', true],
    ['', 'Wget/1.21', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['', 'kubectl/v1.36.0', false],
    ['?pretty=', 'curl/8.0', true],
    ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [`?pretty=${word}`, 'kubectl/v1.36.0', true] as const),
    ...['0', 'f', 'F', 'false', 'FALSE', 'False', 'yes'].map((word) => [`?pretty=${word}`, 'curl/8.0', false] as const),
  ] as const)('with query "%s" for %s is indented: %s', async (query, agent, isIndented) => {
    const server = await serve();
    const headers = { 'user-agent': agent };
    expect(lines((await send(server, `${MAPS}${query}`, { headers })).body) > 1).toBe(isIndented);
    expect(lines((await send(server, `${MAPS}/missing${query}`, { headers })).body) > 1).toBe(isIndented);
  });
});

describe('tables', () => {
  const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

  test('of flow schemas are in the order of their matching precedence', async () => {
    const server = await serve();
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';
    const names = ['a-late', 'z-early', 'b-late'];
    for (const [index, name] of names.entries()) {
      const spec = { matchingPrecedence: index === 1 ? 3 : 500, priorityLevelConfiguration: { name: 'any' } };
      expect((await send(server, path, { method: 'POST', body: JSON.stringify({ metadata: { name }, spec }) })).code).toBe(201);
    }
    const { body } = await send(server, path, { headers: { accept: TABLE } });
    const { rows } = JSON.parse(body) as { rows: { cells: string[] }[] };
    expect(rows.map(({ cells }) => cells[0])).toEqual(['z-early', 'a-late', 'b-late']);
  });

  test('of access reviews are 406', async () => {
    const store = await serve({ version: {} });
    const body = '{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}';
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    expect((await send(store, path, { method: 'POST', body, headers: { accept: TABLE } })).code).toBe(406);
  });
});

describe('the listener for pods', () => {
  test('serves the same port at another address, and moves when the address does', async () => {
    const server = await serve();
    await server.listenForPods('127.0.0.2');
    await server.listenForPods('127.0.0.2');
    expect((await send(server, '/readyz', { host: '127.0.0.2' })).code).toBe(200);
    await server.listenForPods('127.0.0.3');
    expect((await send(server, '/readyz', { host: '127.0.0.3' })).code).toBe(200);
    await expect(send(server, '/readyz', { host: '127.0.0.2' })).rejects.toThrow('ECONNREFUSED');
    expect((await send(server, '/readyz')).code).toBe(200);
  });
});

describe('CORS, HSTS and GOAWAY', () => {
  const ALLOWED = { origin: 'https://console.example:8443' };

  test('allowed origins get CORS headers on responses, errors and preflight requests', async () => {
    const server = await serve({ http: { allowedOrigins: ['//console\\.example(:|$)'] }, anonymousAuth: false });
    const question = await send(server, MAPS, { method: 'OPTIONS', headers: ALLOWED });
    expect(question).toMatchObject({ code: 204, body: '', headers: { 'access-control-allow-origin': ALLOWED.origin } });
    expect(question.headers).toMatchObject({
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
      'access-control-expose-headers': 'Date',
    });
    expect(await send(server, MAPS, { headers: ALLOWED })).toMatchObject({
      code: 401,
      headers: { 'access-control-allow-origin': ALLOWED.origin },
    });
  });

  test('other origins get no CORS headers', async () => {
    const server = await serve({ http: { allowedOrigins: ['//console\\.example(:|$)'] } });
    const { code, headers } = await send(server, '/livez', { headers: { origin: 'https://console.example.evil' } });
    expect(code).toBe(200);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('responses have the Strict-Transport-Security header', async () => {
    const server = await serve({ http: { strictTransportSecurity: ['max-age=60', 'includeSubDomains'] } });
    expect((await send(server, '/livez')).headers).toMatchObject({ 'strict-transport-security': 'max-age=60; includeSubDomains' });
  });

  test('an HTTP/2 client gets GOAWAY after its response', async () => {
    const server = await serve({ http: { goAwayChance: 1 } });
    const session = http2.connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const left = once(session, 'goaway');
    const stream = session.request({ ':path': '/livez' });
    let body = '';
    for await (const chunk of stream) body += String(chunk);
    expect(body).toBe('ok');
    expect((await left)[0]).toBe(http2.constants.NGHTTP2_NO_ERROR);
    await once(session, 'close');
  });
});
