import https from 'node:https';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MetricsRegistry, realClock, seededRandom, silentLogger } from '#base';
import { openMemoryStore } from '#store';
import { LOOPBACK_TLS } from '../admission/webhooks/loopback-certificate.test-data.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const GROUP = 'paths.example.com';
const BASE = `/apis/${GROUP}/v1`;
const WIDGETS = `${BASE}/namespaces/default/widgets`;

const definition = {
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, subresources: { status: {} } }],
  },
};

describe('paths of custom resources', () => {
  let server: ApiServer;
  const store = openMemoryStore({ clock: realClock });

  const send = (method: string, path: string, body?: object, contentType = 'application/json') =>
    new Promise<{ code: number; body: string }>((resolve, reject) => {
      const headers = { 'content-type': contentType };
      const options = { host: '127.0.0.1', port: server.port, path, method, headers, rejectUnauthorized: false, agent: false };
      const request = https.request(options, async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        resolve({ code: response.statusCode ?? 0, body: text });
      });
      request.on('error', reject);
      request.end(body && JSON.stringify(body));
    });

  beforeAll(async () => {
    server = startApiServer(
      { listen: { host: '127.0.0.1', port: 0, tls: LOOPBACK_TLS }, version: {}, anonymousAuth: true, systemObjects: false },
      { store, clock: realClock, random: seededRandom(1), logger: silentLogger, metrics: new MetricsRegistry() },
    );
    await server.ready;
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    const widget = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'a' } };
    await vi.waitFor(async () => expect((await send('POST', WIDGETS, widget)).code).toBe(201), 5000);
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await store.close();
  });

  test.each([
    `${BASE}/nonesuch`,
    `${BASE}/namespaces/default`,
    `${BASE}/namespaces/default/nonesuch/a`,
    `/apis/${GROUP}/v2`,
    `/apis/${GROUP}/v2/widgets`,
    `${BASE}/widgets/a`,
    `${BASE}/widgets/a/status`,
  ])('%s is of no definition, and so of nobody', async (path) => {
    expect(await send('GET', path)).toEqual({ code: 404, body: '404 page not found\n' });
  });

  test.each([WIDGETS, `${WIDGETS}/a`, `${WIDGETS}/a/status`])('HEAD of %s is a GET without a body', async (path) => {
    expect(await send('HEAD', path)).toEqual({ code: 200, body: '' });
  });

  test('what follows the subresource is not looked at', async () => {
    expect(await send('GET', `${WIDGETS}/a/status/more`)).toMatchObject({ code: 200 });
  });

  test('a POST to the path of an object creates the object in its body', async () => {
    const widget = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'posted' } };
    expect((await send('POST', `${WIDGETS}/other`, widget)).code).toBe(201);
    expect((await send('GET', `${WIDGETS}/posted`)).code).toBe(200);
    expect((await send('GET', `${WIDGETS}/other`)).code).toBe(404);
    expect((await send('POST', `${WIDGETS}/other`, widget, 'application/merge-patch+json')).code).toBe(415);
  });

  test('methods without a verb are named by their resource', async () => {
    const { code, body } = await send('OPTIONS', WIDGETS);
    expect(code).toBe(405);
    expect(JSON.parse(body).message).toBe(` is not supported on resources of kind "widgets.${GROUP}"`);
  });

  test.each([
    [{ kind: 'Widget' }, `the API version in the data () does not match the expected API version (${GROUP}/v1)`],
    [
      { kind: 'Widget', apiVersion: null },
      'Widget in version "" cannot be handled as a Widget: .apiVersion accessor error: <nil> is of the type <nil>, expected string',
    ],
    [
      { apiVersion: `${GROUP}/v1` },
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"apiVersion":"${GROUP}/v1"}' ({"apiVersion":"paths.example.c ...)`,
    ],
  ])('the body %j lacks a name of its kind', async (body, message) => {
    const { code, body: text } = await send('POST', WIDGETS, body);
    expect({ code, message: JSON.parse(text).message }).toEqual({ code: 400, message });
  });

  test('an invalid patch is quoted with the members of the metadata sorted', async () => {
    const patch = [{ op: 'add', path: '/apiVersion', value: 'other/v1' }];
    const { code, body } = await send('PATCH', `${WIDGETS}/a`, patch, 'application/json-patch+json');
    expect(code).toBe(422);
    expect(JSON.parse(body).message).toContain(String.raw`\"metadata\":{\"creationTimestamp\"`);
  });

  test('a PUT of a custom resource without metadata is rejected', async () => {
    const { code, body } = await send('PUT', `${WIDGETS}/a`, { apiVersion: `${GROUP}/v1`, kind: 'Widget' });
    const message = 'the name of the object () does not match the name on the URL (a)';
    expect({ code, message: JSON.parse(body).message }).toEqual({ code: 400, message });
  });

  test('an object is not created by an applied configuration without a name', async () => {
    const widget = { apiVersion: `${GROUP}/v1`, kind: 'Widget' };
    const { code, body } = await send('PATCH', `${WIDGETS}/b?fieldManager=me`, widget, 'application/apply-patch+yaml');
    const message = 'the name of the object (b based on URL) was undeterminable: name must be provided';
    expect({ code, message: JSON.parse(body).message }).toEqual({ code: 400, message });
  });
});
