import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { core } from '#api';
import { mergeTolerations, TolerationCover } from './merge-tolerations.ts';

type Toleration = core.Toleration;

const tolerations = fc.array(
  fc.record(
    {
      key: fc.constantFrom('a', 'b'),
      operator: fc.constantFrom('Exists', 'Equal', 'Lt'),
      value: fc.constantFrom('x', 'y'),
      effect: fc.constantFrom('NoExecute', 'NoSchedule'),
      tolerationSeconds: fc.integer({ min: -1, max: 3 }),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Toleration>,
  { maxLength: 8 },
);

/** Upstream's rule for two tolerations. */
function coversOne(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const isAnyKey = !wide.key && wide.operator === 'Exists';
  if ((narrow.key ?? '') !== (wide.key ?? '') && !isAnyKey) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return (!wide.operator || wide.operator === 'Equal') && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}

function isSame(a: Toleration, b: Toleration): boolean {
  const members = ({ key, operator, value, effect, tolerationSeconds }: Toleration) => [key, operator, value, effect, tolerationSeconds];
  return members(a).every((member, i) => member === members(b)[i]);
}

test('a set of tolerations covers what one of them covers', () => {
  fc.assert(
    fc.property(tolerations, tolerations, (wide, narrow) => {
      const cover = new TolerationCover(wide);
      for (const toleration of narrow) expect(cover.covers(toleration)).toBe(wide.some((other) => coversOne(other, toleration)));
    }),
  );
});

test('merging keeps each toleration that no other one covers, in order', () => {
  fc.assert(
    fc.property(tolerations, tolerations, (first, second) => {
      const all = [...first, ...second];
      const expected: Toleration[] = [];
      for (const [i, toleration] of all.entries()) {
        const isCovered = expected.some((other) => coversOne(other, toleration));
        if (!isCovered && !all.slice(i + 1).some((other) => !isSame(other, toleration) && coversOne(other, toleration)))
          expected.push(toleration);
      }
      expect(mergeTolerations(first, second)).toEqual(expected);
    }),
  );
});

test('of tolerations that cover each other the last one stays, even if an equal one came before', () => {
  const any = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: -1 };
  expect(mergeTolerations([], [any, { ...any, value: 'x' }, any])).toEqual([any]);
  expect(mergeTolerations([any], [{ ...any, value: 'x' }])).toEqual([{ ...any, value: 'x' }]);
});

test('thousands of tolerations are merged by look-ups', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => ({ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: i }));
  expect(mergeTolerations(many, [])).toEqual([many.at(-1)]);
});
