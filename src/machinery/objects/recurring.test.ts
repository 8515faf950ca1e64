import { describe, expect, it } from 'vitest';
import {
  bytesOnce,
  changeOnce,
  isRecurring,
  markRecurring,
  type NameSlot,
  oncePerPair,
  oncePerValue,
  recurs,
  textOnce,
  withOwnName,
} from './recurring.ts';

interface Named {
  readonly name: string;
  readonly size: number;
  readonly note?: string;
}

const NAMING: NameSlot<Named> = { placeholder: 'PLACE', rename: (value, name) => ({ ...value, name }) };

function recurring<T extends object>(value: T): T {
  markRecurring(value);
  return value;
}

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

  it('is remembered for each of a few partners', () => {
    const pair = oncePerPair((value: { n: number }, partner: string) => ({ text: `${value.n}${partner}` }));
    const value = recurring({ n: 1 });
    const first = pair(value, 'a');
    expect(pair(value, 'b')).toEqual({ text: '1b' });
    expect(pair(value, 'a')).toBe(first);
    for (const partner of ['c', 'd', 'e', 'f']) expect(pair(value, partner)).toEqual({ text: `1${partner}` });
    expect(pair(value, 'a')).toEqual(first);
    expect(pair(value, 'a')).not.toBe(first);
  });

  it('holds for values that differ from a recurring one in their name alone', () => {
    let calls = 0;
    const double = oncePerValue(({ size }: Named) => {
      calls++;
      return size * 2;
    });
    const value = recurring({ name: 'PLACE', size: 2 });
    const [a, b] = ['a', 'b'].map((name) => withOwnName(value, NAMING, name));
    expect(a).toEqual({ name: 'a', size: 2 });
    expect([double(a!), double(b!), double(value), calls]).toEqual([4, 4, 4, 1]);
    expect(recurs(a!)).toBe(true);
    expect(recurs({ ...a })).toBe(false);
  });

  it('does not hold for variants of a value that does not recur', () => {
    const variant = withOwnName({ name: 'PLACE', size: 2 }, NAMING, 'a');
    expect(variant).toEqual({ name: 'a', size: 2 });
    expect(recurs(variant)).toBe(false);
  });
});

describe('a change', () => {
  const grow = changeOnce((value: Named) => ({ ...value, size: value.size + 1 }));

  it('of a recurring value is made once, and its result recurs', () => {
    const value = recurring({ name: 'n', size: 1 });
    expect(grow(value)).toEqual({ name: 'n', size: 2 });
    expect(grow(value)).toBe(grow(value));
    expect(isRecurring(grow(value))).toBe(true);
    expect(isRecurring(grow({ name: 'n', size: 1 }))).toBe(false);
  });

  it('of a variant keeps its name, and is a variant again', () => {
    const value = recurring({ name: 'PLACE', size: 1 });
    const variant = withOwnName(value, NAMING, 'a');
    const grown = grow(variant);
    expect(grown).toEqual({ name: 'a', size: 2 });
    expect(recurs(grown)).toBe(true);
    expect(grow(grown)).toEqual({ name: 'a', size: 3 });
    expect(grow(value)).toEqual({ name: 'PLACE', size: 2 });
  });

  it('that changes nothing of a variant leaves it as it is', () => {
    const keep = changeOnce((value: Named) => value);
    const variant = withOwnName(recurring({ name: 'PLACE', size: 1 }), NAMING, 'a');
    expect(keep(variant)).toBe(variant);
  });
});

describe('the text of a value', () => {
  it('is that of the value, whether it recurs, is a variant or neither', () => {
    let calls = 0;
    const text = textOnce((value) => {
      calls++;
      return JSON.stringify(value);
    });
    const value = recurring({ name: 'PLACE', size: 1 });
    for (const candidate of [{ name: 'x', size: 0 }, value, ...['a', 'b', 'c'].map((name) => withOwnName(value, NAMING, name))]) {
      expect(text(candidate)).toBe(JSON.stringify(candidate));
    }
    calls = 0;
    for (const candidate of [value, ...['d', 'e'].map((name) => withOwnName(value, NAMING, name))])
      expect(text(candidate)).toBe(JSON.stringify(candidate));
    expect(calls).toBe(0);
  });

  it('is written anew where the placeholder stands for something else too', () => {
    const text = textOnce(JSON.stringify);
    const value = recurring({ name: 'PLACE', size: 1, note: 'see PLACE' });
    expect(text(withOwnName(value, NAMING, 'a'))).toBe('{"name":"a","size":1,"note":"see PLACE"}');
  });
});

describe('the bytes of a value', () => {
  let calls = 0;
  const encode = ({ name, size, note = '' }: Named, end: string) => {
    calls++;
    return Buffer.from(`${name.length}:${name}/${size}/${note}${end}`);
  };

  it('are those of the value, whether it recurs, is a variant or neither', () => {
    const bytesOf = bytesOnce(encode);
    const value = recurring({ name: 'PLACE', size: 2 });
    const variant = (name: string) => withOwnName<Named>(value, NAMING, name);
    for (const candidate of [{ name: 'a', size: 1 }, value, variant('other'), variant('again'), variant('longer one'), variant('spät')]) {
      for (const end of ['!', '?']) expect(bytesOf(candidate, end).toString()).toBe(encode(candidate, end).toString());
    }
  });

  it('are copied for variants with a name of the same length', () => {
    const bytesOf = bytesOnce(encode);
    const value = recurring({ name: 'PLACE', size: 2 });
    bytesOf(withOwnName<Named>(value, NAMING, 'first'), '!');
    const before = calls;
    expect(bytesOf(withOwnName<Named>(value, NAMING, 'other'), '!').toString()).toBe('5:other/2/!');
    expect(calls).toBe(before);
  });

  it('are encoded anew where the placeholder stands for something else too', () => {
    const value = recurring({ name: 'PLACE', size: 2, note: 'PLACE' });
    expect(bytesOnce(encode)(withOwnName<Named>(value, NAMING, 'other'), '!').toString()).toBe('5:other/2/PLACE!');
  });
});
