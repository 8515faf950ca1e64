import { describe, expect, it } from 'vitest';
import { isRecurring, markRecurring, oncePerPair, oncePerValue } from './recurring.ts';

describe('what is found out about a value', () => {
  it('is worked out each time, unless the value recurs', () => {
    let calls = 0;
    const double = oncePerValue((value: { n: number }) => {
      calls++;
      return { n: value.n * 2 };
    });
    const value = { n: 1 };
    expect(double(value)).not.toBe(double(value));
    markRecurring(value);
    const first = double(value);
    expect(double(value)).toBe(first);
    expect(first).toEqual({ n: 2 });
    expect(calls).toBe(3);
  });

  it('recurs as the value does', () => {
    const copy = oncePerValue((value: object) => ({ ...value }));
    const value = {};
    expect(isRecurring(copy(value))).toBe(false);
    markRecurring(value);
    expect(isRecurring(copy(value))).toBe(true);
  });

  it('is remembered for each of a few partners', () => {
    const pair = oncePerPair((value: { n: number }, partner: string) => ({ text: `${value.n}${partner}` }));
    const value = { n: 1 };
    markRecurring(value);
    const first = pair(value, 'a');
    expect(pair(value, 'b')).toEqual({ text: '1b' });
    expect(pair(value, 'a')).toBe(first);
    for (const partner of ['c', 'd', 'e', 'f']) expect(pair(value, partner)).toEqual({ text: `1${partner}` });
    expect(pair(value, 'a')).toEqual(first);
    expect(pair(value, 'a')).not.toBe(first);
  });
});
