import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificateRequest } from '#base';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster, USER_TOKEN } from './hostile-cluster.ts';

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({
    // Limits of all requests together, as without priority and fairness.
    apiServer: {
      limits: {
        priorityAndFairness: false,
        inFlight: { maxRequestsInFlight: 20, maxMutatingRequestsInFlight: 10 },
        maxBodyBytesInFlight: 8 << 20,
      },
    },
  });
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
});

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('a method that no API has', () => {
  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'FOO'])('%s is answered, and the server goes on', async (method) => {
    const { code } = await hostile.send(MAPS, { method, token: ADMIN_TOKEN });
    expect(code).toBe(405);
    expect((await hostile.send(MAPS, { method })).code).toBe(403);
    expect((await hostile.send('/livez', { method, token: ADMIN_TOKEN })).code).toBeLessThan(500);
    expect(await hostile.send('/livez')).toMatchObject({ code: 200, body: 'ok' });
  });
});

test.each(['constructor', '__proto__', 'toString'])('a path that names %s is not found', async (name) => {
  for (const path of [
    `/api/v1/${name}`,
    `/apis/${name}/v1/pods`,
    `/apis/apps/${name}/pods`,
    `/${name}`,
    `/openapi/v3/${name}`,
    `${MAPS}/${name}`,
  ])
    expect([path, (await hostile.send(path, { token: ADMIN_TOKEN })).code]).toEqual([path, 404]);
  expect((await hostile.send(`/api/v1/namespaces/default/pods/x/${name}`, { token: ADMIN_TOKEN })).code).toBe(404);
});

test('requests for groups that do not exist share one series of each metric', async () => {
  const seriesCount = async () => (await hostile.send('/metrics', { token: ADMIN_TOKEN })).body.split('\n').length;
  await hostile.send('/apis/group-0.example.com/v1/things');
  const before = await seriesCount();
  for (let i = 1; i <= 200; i++) {
    await hostile.send(`/apis/group-${i}.example.com/v1/things/x/sub-${i}`);
    await hostile.send(`/api/v1/things-${i}`, { method: `M${i}` });
    await hostile.send(`/api/v1/namespaces/default/pods/x/sub-${i}`);
  }
  // A few more methods and codes may appear, but nothing that grows with the paths.
  expect((await seriesCount()) - before).toBeLessThan(100);
});

describe('a warning', () => {
  const body = (field: string) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'w-' }, [field]: 1 });

  test('with characters beyond ASCII reaches an HTTP/1.1 client', async () => {
    const path = `${MAPS}?fieldValidation=Warn`;
    const options = { host: '127.0.0.1', port: hostile.port, path, method: 'POST', rejectUnauthorized: false, agent: false };
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const request = https.request({ ...options, headers });
    request.end(body('日本'));
    const [response] = await once(request, 'response');
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(Buffer.from(response.headers.warning, 'latin1').toString()).toBe('299 - "unknown field \\"日本\\""');
  });

  test('is cut where there is too much of them', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'日'.repeat(50)}${i}`, 1]));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'w-' }, ...fields };
    const answer = await hostile.send(`${MAPS}?fieldValidation=Warn`, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
    expect(answer.code).toBe(201);
    expect([...Buffer.from(String(answer.headers.warning), 'latin1').toString('utf8')].length).toBeLessThan(8192);
  });
});

describe('too many requests', () => {
  test('of one kind at a time are answered 429 with a time to come back, and administrators are not', async () => {
    const session = http2.connect(`https://127.0.0.1:${hostile.port}`, { rejectUnauthorized: false });
    const unfinished = Array.from({ length: 12 }, () => {
      const headers = {
        ':path': `${REVIEW}`,
        ':method': 'POST',
        authorization: `Bearer ${USER_TOKEN}`,
        'content-type': 'application/json',
      };
      const stream = session.request(headers, { endStream: false });
      stream.on('error', () => {});
      stream.write('{');
      return stream;
    });
    const answers = unfinished.map(async (stream) => ((await once(stream, 'response')) as [Record<string, unknown>])[0]);
    const first = await Promise.race(answers);
    expect(first).toMatchObject({ ':status': 429, 'retry-after': '1' });
    const other = await hostile.send(REVIEW, { method: 'POST', token: USER_TOKEN, body: '{}' });
    expect(other).toMatchObject({ code: 429, body: 'Too many requests, please try again later.\n' });
    expect((await hostile.send(MAPS, { method: 'POST', token: ADMIN_TOKEN, body: '{"metadata":{"generateName":"a-"}}' })).code).toBe(201);
    expect((await hostile.send('/livez')).code).toBe(200);
    for (const answer of answers) answer.catch(() => {});
    session.destroy();
  });

  test('whose large bodies do not end are answered 429 once they hold too many bytes, while small ones pass', async () => {
    const session = http2.connect(`https://127.0.0.1:${hostile.port}`, { rejectUnauthorized: false });
    const megabyte = Buffer.alloc(1 << 20, ' ');
    const unfinished = Array.from({ length: 10 }, () => {
      const headers = { ':path': MAPS, ':method': 'POST', authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const stream = session.request(headers, { endStream: false });
      stream.on('error', () => {});
      stream.write(megabyte);
      return stream;
    });
    const answers = unfinished.map(async (stream) => ((await once(stream, 'response')) as [Record<string, unknown>])[0]);
    expect(await Promise.race(answers)).toMatchObject({ ':status': 429, 'retry-after': '1' });
    expect((await hostile.send(MAPS, { method: 'POST', token: ADMIN_TOKEN, body: '{"metadata":{"generateName":"a-"}}' })).code).toBe(201);
    for (const answer of answers) answer.catch(() => {});
    session.destroy();
    // The memory of those requests is free again.
    await expect
      .poll(async () => (await hostile.send(MAPS, { method: 'POST', token: ADMIN_TOKEN, body: ' '.repeat(2 << 20) })).code)
      .toBe(400);
  });
});

describe("bad input that used to be the server's fault", () => {
  const post = (path: string, object: object) => hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });

  test('a token bound to an object of the kind "constructor" cannot be had', async () => {
    const spec = { audiences: [], boundObjectRef: { kind: 'constructor', apiVersion: 'v1', name: 'a' } };
    const { code, body } = await post('/api/v1/namespaces/default/serviceaccounts/default/token', { spec });
    expect([code, JSON.parse(body).message]).toEqual([400, 'cannot bind token to object of type /v1, Kind=constructor']);
  });

  test('a pod without containers is invalid, where limits are too', async () => {
    expect((await post('/api/v1/namespaces', { metadata: { name: 'limited' } })).code).toBe(201);
    const limits = [{ type: 'Container', default: { cpu: '1' }, max: { cpu: '2' } }];
    expect((await post('/api/v1/namespaces/limited/limitranges', { metadata: { name: 'a' }, spec: { limits } })).code).toBe(201);
    expect((await post('/api/v1/namespaces/limited/pods', { metadata: { name: 'a' }, spec: {} })).code).toBe(422);
    expect((await post('/api/v1/namespaces/limited/pods', { metadata: { name: 'a' } })).code).toBe(422);
  });

  test('an applied object whose uid is an object with a member toString cannot be', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'u', uid: { toString: { a: 1 } } } };
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const path = `${MAPS}/u?fieldManager=a`;
    const { body } = await hostile.send(path, { method: 'PATCH', token: ADMIN_TOKEN, headers, body: JSON.stringify(object) });
    expect(JSON.parse(body).message).not.toMatch(/primitive value/);
  });

  test('a network policy of 99,999 empty peers is invalid', async () => {
    const ingress = [{ from: Array.from({ length: 99_999 }, () => ({})) }];
    const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
    expect((await post(path, { metadata: { name: 'a' }, spec: { podSelector: {}, ingress } })).code).toBe(422);
  });

  test('a role whose rule has no verbs is invalid', async () => {
    const rules = [{ apiGroups: [''], resources: ['pods'] }];
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    expect((await post(path, { metadata: { name: 'a' }, rules })).code).toBe(422);
  });

  test('a definition whose dependency is a text is invalid', async () => {
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', dependencies: { a: '' } } } };
    const spec = {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await post(path, { metadata: { name: 'things.example.com' }, spec })).code).toBe(422);
  });
});

describe('a certificate request for system:masters', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [harmless, privileged] = [['devs'], ['system:masters']].map((organizations) =>
    createCertificateRequest(privateKey, { subject: { commonName: 'alice', organizations } }),
  ) as [string, string];
  const strayed = harmless.replace('\nMI', '\n*MI');
  const withHeader = harmless.replace('-----\n', '-----\nNote: x\n\n*');

  test.each([
    ['alone', privileged],
    ['before another one', privileged + harmless],
    ['behind a block with a stray character', strayed + privileged],
    ['behind a block with a header', withHeader + privileged],
  ])('is forbidden %s', async (_where, pem) => {
    const request = Buffer.from(pem).toString('base64');
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
    const body = JSON.stringify({ metadata: { generateName: 'c-' }, spec });
    const answer = await hostile.send('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
      method: 'POST',
      token: ADMIN_TOKEN,
      body,
    });
    expect([answer.code, JSON.parse(answer.body).message]).toEqual([403, expect.stringContaining('system:masters group is not allowed')]);
  });
});

const REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
