import { describe, expect, test } from 'vitest';
import { seededRandom } from '#base';
import { isLinearizable, type Operation, type RegisterInput, type RegisterOutput, registerModel } from './linearizability.ts';

type Step = Operation<RegisterInput, RegisterOutput>;

const read = (call: number, end: number, seen: number): Step => ({ input: { kind: 'read' }, output: { seen }, call, return: end });
const write = (call: number, end: number, id: number): Step => ({
  input: { kind: 'write', id },
  output: { succeeded: true },
  call,
  return: end,
});
const lost = (call: number, id: number): Step => ({
  input: { kind: 'write', id },
  output: undefined,
  call,
  return: Number.POSITIVE_INFINITY,
});
const swap = (call: number, end: number, [expected, id, succeeded]: [number, number, boolean]): Step => ({
  input: { kind: 'write', id, expected },
  output: { succeeded },
  call,
  return: end,
});

describe('the checker of linearizability', () => {
  const cases: [string, Step[], boolean][] = [
    ['nothing', [], true],
    ['a read of what was written', [write(0, 1, 7), read(2, 3, 7)], true],
    ['a stale read', [write(0, 1, 7), write(2, 3, 8), read(4, 5, 7)], false],
    ['a read of what was never written', [write(0, 1, 7), read(2, 3, 9)], false],
    ['a read during a write, before it', [write(0, 9, 7), read(1, 2, 0)], true],
    ['a read during a write, after it', [write(0, 9, 7), read(1, 2, 7)], true],
    ['reads during a write that go back', [write(0, 9, 7), read(1, 2, 7), read(3, 4, 0)], false],
    ['two writes at once, seen in one order', [write(0, 9, 7), write(0, 9, 8), read(10, 11, 7), read(12, 13, 7)], true],
    ['two writes at once, seen in both orders', [write(0, 9, 7), write(0, 9, 8), read(10, 11, 7), read(12, 13, 8)], false],
    ['a lost write that is never seen', [lost(0, 7), read(1, 2, 0), read(3, 4, 0)], true],
    ['a lost write that is seen late', [lost(0, 7), read(1, 2, 0), read(3, 4, 7)], true],
    ['a lost write that is seen and gone again', [lost(0, 7), read(1, 2, 7), read(3, 4, 0)], false],
    ['a lost write that is seen before its call', [read(0, 1, 7), lost(2, 7)], false],
    ['one of two swaps that win', [swap(0, 9, [0, 1, true]), swap(0, 9, [0, 2, false]), read(10, 11, 1)], true],
    ['two swaps that both win', [swap(0, 9, [0, 1, true]), swap(0, 9, [0, 2, true])], false],
    ['a swap that fails though it holds', [write(0, 1, 7), swap(2, 3, [7, 8, false])], false],
  ];
  test.each(cases)('judges %s', (_, history, verdict) => {
    expect(isLinearizable(registerModel, history)).toBe(verdict);
  });

  test('accepts what a real register did, and finds a single changed answer', () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = seededRandom(`register ${seed}`);
      const history = realHistory(random, 60);
      expect(isLinearizable(registerModel, history), `seed ${seed}`).toBe(true);
      const reads = history.filter(({ input }) => input.kind === 'read');
      const victim = random.pick(reads);
      const spoilt = history.map((step) => (step === victim ? { ...step, output: { seen: 10_000 } } : step));
      expect(isLinearizable(registerModel, spoilt), `seed ${seed} spoilt`).toBe(false);
    }
  });
});

/** Overlapping operations, each of which takes effect at some moment in between. */
function realHistory(random: ReturnType<typeof seededRandom>, count: number): Step[] {
  const planned = Array.from({ length: count }, (_, i) => {
    const effect = random.float() * 100;
    return { i, effect, call: effect - random.float() * 5, return: effect + random.float() * 5 };
  }).sort((a, b) => a.effect - b.effect);
  let state = 0;
  return planned.map(({ i, call, return: end }) => {
    if (random.int(2) === 0) return read(call, end, state);
    const expected = random.int(2) === 0 ? state : i + 1_000;
    const succeeded = expected === state;
    if (succeeded) state = i + 1;
    return swap(call, end, [expected, i + 1, succeeded]);
  });
}
