import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, type Reply, type Send, startHostileCluster } from './hostile-cluster.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/deep.example.com/v1/namespaces/default';
/** Together with the surrounding object, as deep as Go decodes JSON. */
const LEVELS = 9_999;
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const ANY_OBJECT = '{"type":"object","x-kubernetes-preserve-unknown-fields":true}';
const TYPED_LEVELS = 200;
const TYPED = `${'{"type":"object","properties":{"a":'.repeat(TYPED_LEVELS)}${ANY_OBJECT}${'}}'.repeat(TYPED_LEVELS)}`;

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster();
  await define('opens', ANY_OBJECT);
  await define('typeds', TYPED);
});
afterAll(async () => {
  await hostile[Symbol.asyncDispose]();
});

async function define(plural: string, spec: string): Promise<void> {
  const schema = `{"openAPIV3Schema":{"type":"object","properties":{"spec":${spec}}}}`;
  const column = '{"name":"All","type":"string","jsonPath":".spec..a"}';
  const version = `{"name":"v1","served":true,"storage":true,"schema":${schema},"additionalPrinterColumns":[${column}]}`;
  const names = JSON.stringify({ plural, singular: kindOf(plural).toLowerCase(), kind: kindOf(plural) });
  const body = `{"metadata":{"name":"${plural}.deep.example.com"},"spec":{"group":"deep.example.com","scope":"Namespaced","names":${names},"versions":[${version}]}}`;
  expect(await codeOf(DEFINITIONS, { method: 'POST', body })).toBe(201);
  await vi.waitUntil(async () => (await codeOf(`${THINGS}/${plural}`)) === 200, { timeout: 30_000 });
}

function kindOf(plural: string): string {
  return `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;
}

function send(path: string, options: Send = {}): Promise<Reply> {
  return hostile.send(path, { token: ADMIN_TOKEN, ...options });
}

async function codeOf(path: string, options?: Send): Promise<number> {
  return (await send(path, options)).code;
}

const patch = (path: string, type: string, body: string) => codeOf(path, { method: 'PATCH', body, headers: { 'content-type': type } });
const nested = (levels: number, leaf = '1') => `${'{"a":'.repeat(levels)}${leaf}${'}'.repeat(levels)}`;
const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

function object(plural: string, name: string, spec: string): string {
  return `{"apiVersion":"deep.example.com/v1","kind":"${kindOf(plural)}","metadata":{"name":"${name}"},"spec":${spec}}`;
}

describe.each(['opens', 'typeds'])('custom resources nested 10,000 levels deep (%s)', (plural) => {
  const all = `${THINGS}/${plural}`;
  const resourcePath = `${all}/a`;

  test.each([
    ['as JSON', 'a', nested(LEVELS), 'application/json'],
    ['as YAML', 'yaml', nested(LEVELS), 'application/yaml'],
    ['with an integer beyond 2^53', 'integer', nested(LEVELS, '9007199254740993'), 'application/json'],
    ['with a key that is there twice', 'twice', nested(LEVELS, '1,"a":1.0'), 'application/json'],
  ])('are created %s', async (_how, name, spec, type) => {
    expect(await codeOf(all, { method: 'POST', body: object(plural, name, spec), headers: { 'content-type': type } })).toBe(201);
  });

  test('are what was sent when they are read', async () => {
    expect((await send(resourcePath)).body).toContain(`"spec":${nested(LEVELS)}`);
    expect((await send(all)).body.split(nested(LEVELS)).length).toBe(4);
    expect((await send(`${all}?watch=true&timeoutSeconds=1`)).body.split(nested(LEVELS)).length).toBe(4);
  });

  test.each([
    ['YAML', '', 'application/yaml'],
    ['indented JSON', '?pretty=true', 'application/json'],
    ['a table with the objects', '?includeObject=Object', TABLE],
    ['metadata in protobuf', '', PARTIAL],
  ])('are listed as %s', async (_how, query, accept) => {
    expect(await codeOf(`${all}${query}`, { headers: { accept } })).toBe(200);
  });

  test('are patched with a JSON patch', async () => {
    expect(await patch(resourcePath, JSON_PATCH, `[{"op":"replace","path":"/spec${'/a'.repeat(LEVELS)}","value":2}]`)).toBe(200);
    const same = `{"op":"test","path":"/spec/a","value":${nested(LEVELS - 1, '2')}}`;
    const [copy, move] = ['{"op":"copy","from":"/spec/a","path":"/spec/a"}', '{"op":"move","from":"/spec/a","path":"/spec/a"}'];
    expect(await patch(resourcePath, JSON_PATCH, `[${same},${copy},${move},${same}]`)).toBe(200);
  });

  test('cannot be made deeper by a JSON patch', async () => {
    expect(await patch(resourcePath, JSON_PATCH, '[{"op":"copy","from":"/spec","path":"/spec/a/a"}]')).toBe(422);
  });

  test('are patched with a merge patch', async () => {
    expect(await patch(resourcePath, MERGE_PATCH, `{"spec":${nested(LEVELS, '3')}}`)).toBe(200);
    expect(await patch(resourcePath, MERGE_PATCH, `{"spec":{"a":${nested(TYPED_LEVELS, `{"list":${lists(9_000)}}`)}}}`)).toBe(200);
    const { body } = await send(resourcePath);
    expect([body.includes('{"a":3}'), body.includes(`"list":${lists(9_000)}`)]).toEqual([true, true]);
  });

  test('are applied, and conflicts are found', async () => {
    expect(await patch(`${all}/applied?fieldManager=x`, APPLY_PATCH, object(plural, 'applied', nested(LEVELS)))).toBe(201);
    expect(await patch(`${all}/applied?fieldManager=x`, APPLY_PATCH, object(plural, 'applied', nested(LEVELS, '2')))).toBe(200);
    expect(await patch(`${all}/applied?fieldManager=y`, APPLY_PATCH, object(plural, 'applied', nested(LEVELS, '3')))).toBe(409);
    expect(await patch(`${all}/applied?fieldManager=y&force=true`, APPLY_PATCH, object(plural, 'applied', nested(LEVELS, '3')))).toBe(200);
    expect((await send(`${all}/applied`)).body).toContain(nested(LEVELS, '3'));
  });

  test('are updated, with what they are and with something else', async () => {
    const { body } = await send(resourcePath);
    expect(await codeOf(resourcePath, { method: 'PUT', body })).toBe(200);
    expect(await codeOf(resourcePath, { method: 'PUT', body: body.replace(/"spec":.*/, `"spec":${nested(LEVELS, '4')}}`) })).toBe(200);
  });

  test('are deleted', async () => {
    expect((await send(resourcePath, { method: 'DELETE' })).code).toBe(200);
    expect((await send(all, { method: 'DELETE' })).code).toBe(200);
    expect(JSON.parse((await send(all)).body).items).toEqual([]);
  });
});

test('an object one level deeper than allowed is a bad request', async () => {
  const { code, body } = await send(`${THINGS}/opens`, { method: 'POST', body: object('opens', 'a', nested(LEVELS + 1)) });
  expect([code, JSON.parse(body).message.includes('exceeded max depth')]).toEqual([400, true]);
});

test('a list where an object belongs is invalid however deep', async () => {
  for (const spec of [lists(LEVELS), nested(TYPED_LEVELS, lists(9_000))])
    expect(await codeOf(`${THINGS}/typeds`, { method: 'POST', body: object('typeds', 'a', spec) })).toBe(422);
});

describe('values of any kind in a built-in type', () => {
  const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const revision = (name: string, data: string) => `{"metadata":{"name":"${name}"},"revision":1,"data":${data}}`;

  test('may be as deep', async () => {
    expect(await codeOf(revisions, { method: 'POST', body: revision('a', nested(LEVELS)) })).toBe(201);
    expect(await patch(`${revisions}/a`, MERGE_PATCH, '{"metadata":{"labels":{"a":"b"}}}')).toBe(200);
    expect(await codeOf(revisions, { headers: { accept: 'application/vnd.kubernetes.protobuf' } })).toBe(200);
  });

  test('cannot be patched so deeply with a strategic patch', async () => {
    expect(await patch(`${revisions}/a`, STRATEGIC_PATCH, `{"data":${nested(LEVELS)}}`)).toBe(400);
  });
});

test('a deep value where a text belongs is refused whichever way it is written', async () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  expect(await codeOf(maps, { method: 'POST', body: '{"metadata":{"name":"texts"}}' })).toBe(201);
  for (const value of [nested(9_990), lists(9_990)]) {
    const data = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"texts"},"data":{"a":${value}}}`;
    expect(await codeOf(maps, { method: 'POST', body: data })).toBe(400);
    expect(await codeOf(`${maps}/texts`, { method: 'PUT', body: data })).toBe(400);
    expect(await patch(`${maps}/texts`, MERGE_PATCH, data)).toBe(422);
    expect(await patch(`${maps}/texts`, JSON_PATCH, `[{"op":"add","path":"/data","value":{"a":${value}}}]`)).toBe(422);
    expect(await patch(`${maps}/texts`, STRATEGIC_PATCH, data)).toBe(400);
    // Upstream returns 500 for a configuration that does not fit its type.
    const { body } = await send(`${maps}/texts?fieldManager=x`, { method: 'PATCH', body: data, headers: { 'content-type': APPLY_PATCH } });
    expect(JSON.parse(body).message).toContain('.data.a: expected string, got');
  }
});

test('ownership that a client made up is cut where it is too deep', async () => {
  const fields = `${'{"f:a":'.repeat(9_900)}{}${'}'.repeat(9_900)}`;
  const entry = `{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${fields}}`;
  const body = `{"metadata":{"name":"owned","managedFields":[${entry}]}}`;
  const maps = '/api/v1/namespaces/default/configmaps';
  expect(await codeOf(maps, { method: 'POST', body })).toBe(201);
  expect(await patch(`${maps}/owned?fieldManager=x`, APPLY_PATCH, '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"}}')).toBe(200);
  expect((await send(`${maps}/owned`)).body.length).toBeLessThan(20_000);
});

test('a schema nested more deeply than types are is a bad request', async () => {
  const schema = `${'{"type":"object","properties":{"a":'.repeat(1_000)}${ANY_OBJECT}${'}}'.repeat(1_000)}`;
  const version = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}`;
  const body = `{"metadata":{"name":"x.deep.example.com"},"spec":{"group":"deep.example.com","scope":"Namespaced","names":{"plural":"x","kind":"X"},"versions":[${version}]}}`;
  expect(await codeOf(DEFINITIONS, { method: 'POST', body })).toBe(400);
});

test('definitions with deep schemas are published', async () => {
  for (const path of ['/openapi/v2', '/openapi/v3/apis/deep.example.com/v1', DEFINITIONS, `${DEFINITIONS}?pretty=true`])
    expect(await codeOf(path)).toBe(200);
});
