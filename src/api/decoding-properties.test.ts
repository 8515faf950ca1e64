import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conforms, decodeObject, type JsonValue, type ObjectSchema } from '#machinery';
import { KINDS, type Kind } from './index.ts';
import { randomObject } from './random-object.test-data.ts';

const decode = (schema: ObjectSchema, value: JsonValue) => decodeObject(schema, value);

describe('whatever is sent', () => {
  /** Puts `value` somewhere into a copy of `target`; `turns` choose the way. */
  function planted(target: JsonValue, turns: readonly number[], value: JsonValue): JsonValue {
    const [turn, ...rest] = turns;
    if (turn === undefined || target === null || typeof target !== 'object') return value;
    const keys = Object.keys(target);
    const key = keys[turn % (keys.length + 1)];
    if (key === undefined) return Array.isArray(target) ? [...target, value] : { ...target, [`new${turn % 3}`]: value };
    const member = planted((target as Record<string, JsonValue>)[key] as JsonValue, rest, value);
    if (!Array.isArray(target)) return { ...target, [key]: member };
    return (target as JsonValue[]).map((item, i) => (i === Number(key) ? member : item));
  }

  const sent = fc
    .record({
      kind: fc.constantFrom<Kind<unknown>[]>(...(KINDS as readonly Kind<unknown>[])),
      seed: fc.integer(),
      size: fc.integer({ min: 1, max: 40 }),
      changes: fc.array(fc.record({ turns: fc.array(fc.nat(), { maxLength: 6 }), value: fc.jsonValue() }), { maxLength: 4 }),
    })
    .map(({ kind, seed, size, changes }) => {
      const original: JsonValue = randomObject(kind, { seed, size });
      return {
        kind,
        value: changes.reduce<JsonValue>((value, { turns, value: odd }) => planted(value, turns, odd as JsonValue), original),
      };
    });

  test('is an error, or an object that a second reading leaves as it is', () => {
    fc.assert(
      fc.property(sent, ({ kind, value }) => {
        const first = decode(kind, value);
        if (first.error !== undefined) return;
        expect(decode(kind, first.object)).toEqual({ object: first.object, problems: [] });
        expect(decode(kind, first.object).object).toBe(first.object);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('what conforms', () => {
  const spoilers: readonly JsonValue[] = [null, 7, 'x', '', [], {}, true, [null], { a: null }, 1.5, '2026-13-01T00:00:00Z', 'a==='];

  /** With one value of it, at any depth, replaced. */
  function spoilt(value: JsonValue, pick: (below: number) => number): JsonValue {
    if (typeof value !== 'object' || value === null || pick(4) === 0) return spoilers[pick(spoilers.length)]!;
    const keys = Object.keys(value);
    const key = keys[pick(Math.max(1, keys.length))];
    if (key === undefined) return spoilers[pick(spoilers.length)]!;
    if (Array.isArray(value)) return value.map((item, i) => (String(i) === key ? spoilt(item as JsonValue, pick) : item)) as JsonValue;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, name === key ? spoilt(item as JsonValue, pick) : item]));
  }

  test('is what decoding finds nothing wrong with', () => {
    const drafts = fc.tuple(fc.integer(), fc.constantFrom(...KINDS), fc.infiniteStream(fc.nat(1 << 20)));
    fc.assert(
      fc.property(drafts, ([seed, kind, chance]) => {
        const object = spoilt(randomObject(kind, { seed, size: 30 }), (below) => chance.next().value! % below);
        if (conforms(kind, object)) expect(decode(kind, object)).not.toHaveProperty('error');
      }),
      { numRuns: 2000 },
    );
  });

  test('is nearly all that a decoder gives', () => {
    const outcomes = KINDS.flatMap((kind) => [1, 2, 3].map((seed) => conforms(kind, randomObject(kind, { seed, size: 5 }))));
    expect(outcomes.filter(Boolean).length).toBeGreaterThan(outcomes.length / 2);
  });
});
