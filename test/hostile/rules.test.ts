import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_TOKEN, type HostileCluster, startHostileCluster } from './hostile-cluster.ts';
import { TURN_BUDGET_MS } from './turn-budget.ts';
import { timedTurns } from './watch-turns.ts';

// Rules of a CRD cost what upstream lets them cost. They are evaluated in several turns, and end when there are more errors than anybody reads.

const GROUP = 'rules.example.com';
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const rule = (text: string) => ({ 'x-kubernetes-validations': [{ rule: text }] });

const KINDS: Readonly<Record<string, object>> = {
  numbers: { type: 'array', items: { type: 'integer', ...rule('self >= 0') } },
  objects: {
    type: 'array',
    items: { type: 'object', properties: { a: { type: 'string' } }, ...rule('has(self.a) && self.a.startsWith("a")') },
  },
  products: {
    type: 'array',
    maxItems: 25,
    items: { type: 'array', maxItems: 150, items: { type: 'integer' }, ...rule('self.all(x, self.all(y, x == y))') },
  },
};

function definition(plural: string, list: object) {
  const kind = plural.toUpperCase();
  const openAPIV3Schema = { type: 'object', properties: { list } };
  return {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      ...{ group: GROUP, scope: 'Namespaced', names: { plural, kind, singular: plural, listKind: `${kind}List` } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

let hostile: HostileCluster;
beforeAll(async () => {
  hostile = await startHostileCluster({ controllerManager: { controllers: [] } });
  for (const [plural, list] of Object.entries(KINDS)) {
    const body = JSON.stringify(definition(plural, list));
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { code, body: answer } = await hostile.send(path, { method: 'POST', token: ADMIN_TOKEN, body });
    expect([code, answer]).toEqual([201, expect.any(String)]);
    await vi.waitFor(async () => expect((await hostile.send(pathOf(plural), { token: ADMIN_TOKEN })).code).toBe(200), { timeout: 30_000 });
  }
});
afterAll(() => hostile[Symbol.asyncDispose]());

function pathOf(plural: string): string {
  return `/apis/${GROUP}/v1/namespaces/default/${plural}`;
}

function create(plural: string, list: unknown) {
  const body = JSON.stringify({ apiVersion: `${GROUP}/v1`, kind: plural.toUpperCase(), metadata: { name: 'a' }, list });
  return hostile.send(`${pathOf(plural)}?dryRun=All`, { method: 'POST', token: ADMIN_TOKEN, body });
}

describe('a custom resource with', () => {
  test.each<[string, string, number, () => unknown]>([
    ['1,000,000 numbers that a rule accepts', 'numbers', 201, () => many(1_000_000, () => 1)],
    ['1,000,000 numbers that a rule rejects', 'numbers', 422, () => many(1_000_000, () => -1)],
    ['90,000 objects that a rule rejects', 'objects', 422, () => many(90_000, () => ({ a: 'b' }))],
    ['lists that rules compare with themselves', 'products', 201, () => many(25, () => many(150, () => 1))],
  ])('%s is answered in short turns', async (_, plural, code, list) => {
    const { answer, longestMs } = await timedTurns(TURN_BUDGET_MS, () => create(plural, list()));
    expect(answer.code).toBe(code);
    expect(longestMs).toBeLessThan(TURN_BUDGET_MS);
  });
});
