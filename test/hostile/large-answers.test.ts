import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// The size of tables, YAML and error messages is bounded, and the server handles other requests while it writes a long response.

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/large.example.com/v1/namespaces/default/things';
const COUNT = 30;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const YAML_TABLE = 'application/yaml;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/yaml;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

let hostile: HostileCluster;
let stored = 0;
beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };
  const spec = {
    group: 'large.example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  };
  await post(DEFINITIONS, JSON.stringify({ metadata: { name: 'things.large.example.com' }, spec }));
  await vi.waitUntil(async () => (await hostile.send(THINGS, { token: ADMIN_TOKEN })).code === 200, { timeout: 30_000 });
  // Many members at a great depth: indentation would be hundreds of times as long.
  const deep = `${'{"a":'.repeat(3_000)}{${Array.from({ length: 5_000 }, (_, i) => `"k${i}":1`).join()}}${'}'.repeat(3_000)}`;
  const annotations = JSON.stringify(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, 'value'])));
  for (let i = 0; i < COUNT; i++) {
    const metadata = `{"name":"t${i}","annotations":${annotations}}`;
    const body = `{"apiVersion":"large.example.com/v1","kind":"Thing","metadata":${metadata},"spec":${deep}}`;
    expect((await post(THINGS, body)).code).toBe(201);
  }
  stored = (await hostile.send(THINGS, { token: ADMIN_TOKEN })).body.length;
});
afterAll(() => hostile[Symbol.asyncDispose]());

function post(path: string, body: string) {
  return hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body });
}

describe('a list of deep objects', () => {
  test.each([
    ['indented', '?pretty=true', 'application/json'],
    ['as YAML', '', 'application/yaml'],
    ['as a table with the objects', '?includeObject=Object', TABLE],
    ['as an indented table with the objects', '?includeObject=Object&pretty=true', TABLE],
    ['as a table in YAML', '?includeObject=Object', YAML_TABLE],
    ['as metadata in YAML', '', PARTIAL],
  ])('%s is answered within a few times its length, in short turns', async (_how, query, accept) => {
    const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () =>
      hostile.send(`${THINGS}${query}`, { token: ADMIN_TOKEN, headers: { accept } }),
    );
    expect(answer.code).toBe(200);
    expect(answer.body.length).toBeLessThan(10 * stored);
    expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  });

  test('does not keep others waiting until it is written', async () => {
    let isDone = false;
    const list = hostile.send(`${THINGS}?pretty=true`, { token: ADMIN_TOKEN }).then(() => {
      isDone = true;
    });
    const probe = await hostile.send('/livez');
    expect([probe.code, isDone]).toEqual([200, false]);
    await list;
  });
});

test('an answer about many wrong fields is no longer than the request', async () => {
  const usages = Array.from({ length: 16_000 }, (_, i) => `usage ${i}`);
  const spec = { request: Buffer.from('x').toString('base64'), signerName: 'example.com/s', usages };
  const body = JSON.stringify({ metadata: { name: 'c' }, spec });
  const answer = await post('/apis/certificates.k8s.io/v1/certificatesigningrequests', body);
  expect(answer.code).toBe(422);
  expect(answer.body.length).toBeLessThan(body.length);
  expect(JSON.parse(answer.body).message).toMatch(/ and at least \d+ more errors$/);
});
