import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// A patch is parsed, applied, decoded and tracked in several turns, and its operations do not each copy the document.

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  for (const object of [{ name: 'small' }, { name: 'large', data: keys(50_000, 'v') }]) await create(object);
});
afterAll(() => hostile[Symbol.asyncDispose]());

const CORE = '/api/v1/namespaces/default/configmaps';
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const keys = (count: number, value: unknown) => Object.fromEntries(many(count, (i) => [i.toString(36).padStart(5, 'a'), value]));

function configMap({ name, data }: { name: string; data?: object }): string {
  return JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data });
}

function create(object: { name: string; data?: object }) {
  return hostile.send(CORE, { method: 'POST', token: ADMIN_TOKEN, body: configMap(object) });
}

const LIST = '/metadata/finalizers';
const long = { op: 'add', path: LIST, value: many(200_000, () => 'a/b') };
const numbers = { op: 'add', path: '/odd', value: many(1_200_000, () => 1) };
const repeated = (operations: readonly object[]) => many(9_998 / operations.length, () => operations).flat();

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

const CASES: readonly (readonly [string, { type: string; patch: unknown }])[] = [
  ['copies between changes of a long list', [long, ...repeated([{ op: 'copy', from: '/kind', path: '/odd' }, replaced(`${LIST}/0`)])]],
  ['copies between changes of a large map', [add('/data', keys(90_000, '')), ...repeated([add('/data/a', 'x'), copied('/data/a')])]],
  ['insertions at the start of a long list', [numbers, ...repeated([add('/odd/0', 2)])]],
  ['removals at the start of a long list', [numbers, ...repeated([{ op: 'remove', path: '/odd/0' }])]],
  ['moves within a long list', [numbers, ...repeated([{ op: 'move', from: '/odd/0', path: '/odd/1' }])]],
  ['large copies', [long, ...repeated([{ op: 'copy', from: LIST, path: '/odd' }])]],
].map(([name, patch]) => [name as string, { type: JSON_PATCH, patch }]);

function add(path: string, value: unknown): object {
  return { op: 'add', path, value };
}

function replaced(path: string): object {
  return { op: 'replace', path, value: 'x' };
}

function copied(from: string): object {
  return { op: 'copy', from, path: '/data/copy' };
}

const MAPS: typeof CASES = [MERGE, STRATEGIC].flatMap((type) => [
  [`${type} of 187,500 keys`, { type, patch: { data: keys(187_500, '') } }],
  [`${type} of 70,000 finalizers`, { type, patch: { metadata: { finalizers: many(70_000, (i) => `a/${i}`) } } }],
  [`${type} of labels that are objects`, { type, patch: { metadata: { labels: keys(180_000, {}) } } }],
]);

describe('a patch', () => {
  test.each([...CASES, ...MAPS])('with %s is answered in short turns', async (_, { type, patch }) => {
    const body = JSON.stringify(patch);
    const send = { method: 'PATCH', token: ADMIN_TOKEN, headers: { 'content-type': type }, body };
    const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () => hostile.send(`${CORE}/small?dryRun=All`, send));
    expect([answer.code, answer.body.includes('Error')]).toEqual([expect.toSatisfy((code: number) => code < 500), false]);
    expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  });
});

describe('the largest object', () => {
  const other = configMap({ name: 'large', data: keys(50_000, 'other') });
  const writes: readonly (readonly [string, { method: string; type: string; body: string; query?: string }])[] = [
    ['replaced', { method: 'PUT', type: 'application/json', body: other }],
    ['patched', { method: 'PATCH', type: MERGE, body: '{"data":{"a":"b"}}' }],
    ['applied', { method: 'PATCH', type: 'application/apply-patch+yaml', body: other, query: '&fieldManager=m&force=true' }],
  ];
  test.each(writes)('is %s in short turns', async (_, { method, type, body, query = '' }) => {
    const send = { method, token: ADMIN_TOKEN, headers: { 'content-type': type }, body };
    const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () => hostile.send(`${CORE}/large?dryRun=All${query}`, send));
    expect(answer.code).toBe(200);
    expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  });
});
