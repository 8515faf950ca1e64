import { cel } from '#machinery';
import type { Benchmark } from './harness.ts';

const schema: cel.TypedSchema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    name: { type: 'string' },
    items: { type: 'array', items: { type: 'object', properties: { key: { type: 'string' }, count: { type: 'integer' } } } },
  },
};
const items = Array.from({ length: 10 }, (_, i) => ({ key: `x${i}`, count: i }));
const self = { replicas: 3, maxReplicas: 5, name: 'abc', items };
const type = cel.schemaType(schema, { name: 'self' }) ?? cel.DYN;

function program(rule: string): cel.CelProgram {
  const result = cel.compile(rule, { variables: { self: type } });
  if (!result.ok) throw new Error(result.message);
  return result.program;
}

const RULE = 'self.replicas <= self.maxReplicas && self.name.startsWith("a")';
const typical = program(RULE);
const loop = program('self.items.all(i, i.count >= 0 && i.key.startsWith("x"))');
const pattern = program('self.name.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")');

export const benchmarks: Benchmark[] = [
  {
    kind: 'micro',
    name: 'cel: a typical rule (at least 200,000 a second)',
    baseline: { name: 'the same in JavaScript', run: () => self.replicas <= self.maxReplicas && self.name.startsWith('a') },
    subject: { name: 'run', run: () => typical.run({ self }) },
  },
  {
    kind: 'micro',
    name: 'cel: a rule for each of ten items',
    baseline: { name: 'the same in JavaScript', run: () => self.items.every((i) => i.count >= 0 && i.key.startsWith('x')) },
    subject: { name: 'run', run: () => loop.run({ self }) },
  },
  {
    kind: 'micro',
    name: 'cel: a regular expression',
    baseline: { name: 'RegExp', run: () => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(self.name) },
    subject: { name: 'run', run: () => pattern.run({ self }) },
  },
  {
    kind: 'micro',
    name: 'cel: compile a typical rule',
    baseline: { name: 'new Function', run: () => new Function('self', `return ${RULE}`) },
    subject: { name: 'compile', run: () => cel.compile(RULE, { variables: { self: type } }) },
  },
];
