import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { JSON_LIES, type Lie, type LyingServer, startLyingServer, TRANSPORT_LIES } from './lying-server.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// A misbehaving aggregated API server only affects requests for its own API.

const GROUP = 'lies.example.com';
const THINGS = `/apis/${GROUP}/v1/namespaces/default/things`;
/** Responses without an end have their own tests. */
const UNENDING = new Set(['a slow trickle', 'no answer', 'an answer without end']);
const LIES = Object.entries({ ...TRANSPORT_LIES, ...JSON_LIES });
const ENDING = LIES.filter(([name]) => !UNENDING.has(name));
const RESOURCES = {
  kind: 'APIResourceList',
  groupVersion: `${GROUP}/v1`,
  resources: [{ name: 'things', namespaced: true, kind: 'Thing', verbs: ['get', 'list'] }],
};

let hostile: HostileCluster;
let extension: LyingServer;
/** The bodies of discovery paths; objects are served by name. */
let discoveryLie: Lie | undefined;

beforeAll(async () => {
  extension = await startLyingServer(() => JSON.stringify(RESOURCES));
  extension.lie = (exchange) => {
    const name = /\/things\/([^/?]+)/.exec(exchange.request.url ?? '')?.[1];
    const lie = name === undefined ? discoveryLie : LIES.find(([lieName]) => slug(lieName) === name)?.[1];
    return lie === undefined ? void exchange.response.setHeader('content-type', 'application/json').end(exchange.honest) : lie(exchange);
  };
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  // A service name that resolves to this machine: endpoints must not be on loopback.
  await post('/api/v1/namespaces/default/services', {
    metadata: { name: 'liar' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await post('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: `v1.${GROUP}` },
    spec: {
      ...{ group: GROUP, version: 'v1', groupPriorityMinimum: 10, versionPriority: 5, insecureSkipTLSVerify: true },
      service: { name: 'liar', namespace: 'default', port: Number(new URL(extension.url).port) },
    },
  });
  await vi.waitUntil(async () => (await hostile.send(`${THINGS}/honest`, { token: ADMIN_TOKEN })).code === 200, { timeout: 60_000 });
});
afterAll(async () => {
  await extension[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
});

async function post(path: string, object: object): Promise<void> {
  const { code, body } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(object) });
  expect([code, body]).toEqual([201, expect.anything()]);
}

function slug(name: string): string {
  return encodeURIComponent(name.replaceAll(/[^\w]/g, '-'));
}

async function expectAtWork(): Promise<void> {
  expect(await hostile.send('/livez')).toMatchObject({ code: 200 });
  expect((await hostile.send('/api/v1/namespaces/default/services/liar', { token: ADMIN_TOKEN })).code).toBe(200);
  expect(hostile.logged.filter((line) => /\b(Type|Range|Reference)Error\b/.test(line))).toEqual([]);
}

describe('an aggregated server', () => {
  test.each(ENDING)('that answers with %s is passed on or is a bad gateway, in short turns', async (name) => {
    const ask = () => hostile.send(`${THINGS}/${slug(name)}`, { token: ADMIN_TOKEN }).catch((error: Error) => error.message);
    const { longestMs } = await timedTurns(TURN_BUDGET_MS, ask);
    expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
    await expectAtWork();
  });

  test.each([...UNENDING])('that answers with %s is waited for until the client goes', async (name) => {
    const session = http2.connect(`https://127.0.0.1:${hostile.port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': `${THINGS}/${slug(name)}`, authorization: `Bearer ${ADMIN_TOKEN}` });
    stream.on('error', () => {});
    if (name !== 'no answer') {
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
      expect(headers[':status']).toBe(200);
      await once(stream, 'data');
    }
    await expectAtWork();
    session.destroy();
    await expectAtWork();
  });

  test('whose discovery lies leaves that of the others', async () => {
    for (const [, lie] of ENDING) {
      discoveryLie = lie;
      const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () => hostile.send('/apis', { token: ADMIN_TOKEN }));
      expect([answer.code, (JSON.parse(answer.body) as { groups: unknown[] }).groups.length > 10]).toEqual([200, true]);
      expect((await hostile.send('/openapi/v3', { token: ADMIN_TOKEN })).code).toBe(200);
      expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
    }
    discoveryLie = undefined;
    await expectAtWork();
  });
});
