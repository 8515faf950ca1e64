import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { redactText } from '#base';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// Strings of a megabyte that make backtracking expressions slow: the time must be linear.

const LENGTH = 1_000_000;
const long = (part: string) => part.repeat(Math.ceil(LENGTH / part.length));

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const THINGS = '/apis/texts.example.com/v1/namespaces/default/things';
let hostile: HostileCluster;

beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  const schema = { openAPIV3Schema: { type: 'object', properties: { wait: { type: 'string', format: 'duration' } } } };
  const definition = {
    metadata: { name: 'things.texts.example.com' },
    spec: {
      ...{ group: 'texts.example.com', scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  expect((await hostile.send(DEFINITIONS, { method: 'POST', token: ADMIN_TOKEN, body: JSON.stringify(definition) })).code).toBe(201);
  await vi.waitUntil(async () => (await hostile.send(THINGS, { token: ADMIN_TOKEN })).code === 200, { timeout: 30_000 });
});
afterAll(() => hostile[Symbol.asyncDispose]());

test.each([
  ['digits', long('1'), 422],
  ['spaces between digits', long('1 '), 422],
  ['a count without an end', `${long('1')} days`, 422],
  ['words', long('day '), 422],
  ['fractions', long('1.'), 422],
  ['many days', long('1 day '), 201],
])('a custom resource with a duration of %s is answered within the budget', async (_, wait, code) => {
  const body = JSON.stringify({ apiVersion: 'texts.example.com/v1', kind: 'Thing', metadata: { name: 'a' }, wait });
  const request = { method: 'POST', token: ADMIN_TOKEN, body };
  const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () => hostile.send(`${THINGS}?dryRun=All`, request));
  expect(answer.code).toBe(code);
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
});

test.each([
  ['beginnings of keys', long('-----BEGIN PRIVATE KEY-----')],
  ['beginnings of other blocks', `PRIVATE KEY ${long('-----BEGIN ')}`],
  ['parts of tokens', long('.eyJ')],
  ['beginnings of tokens', long('eyJa.eyJa ')],
  ['names of schemes', `Bearer ${long('Bearer ')}`],
  ['URLs without a password', long('a://b:')],
  ['URLs in one word', long('://')],
])('a log line of %s is redacted within the budget', async (_, text) => {
  const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, async () => redactText(text));
  expect(answer.length).toBeGreaterThan(0);
  expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
});
