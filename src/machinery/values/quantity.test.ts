import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity, maxQuantity, minQuantity, Quantity } from './quantity.ts';

describe('a quantity in canonical form', () => {
  it.each([
    ['0', '0'],
    ['0Gi', '0'],
    ['-0', '0'],
    ['00', '0'],
    ['1', '1'],
    ['+5', '+5'],
    ['0005', '0005'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1000000', '1M'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.5', '1500m'],
    ['1.500', '1.500'],
    ['0.001', '1m'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1Ki', '1Ki'],
    ['1024Ki', '1Mi'],
    ['1024', '1024'],
    ['8Gi', '8Gi'],
    ['1536Mi', '1536Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Gi', '512Mi'],
    ['1.1Ki', '1126400m'],
    ['0.0001Ki', '102400u'],
    ['1000Ki', '1000Ki'],
    ['512Ki', '512Ki'],
    ['9Ei', '9223372036854775807'],
    ['7Ei', '7Ei'],
    ['-1Gi', '-1Gi'],
    ['-1.5', '-1500m'],
    ['12e6', '12e6'],
    ['12E6', '12E6'],
    ['1e1', '10'],
    ['1e4', '10e3'],
    ['1E', '1E'],
    ['1e-10', '1e-9'],
    ['1e-2147483648', '1e-9'],
    ['0.0000000001', '1n'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['1.23456789012345678901', '1234567891n'],
    ['1.', '1.'],
    ['.', '0'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const wrongSuffix = "unable to parse quantity's suffix";
  it.each([
    ['', wrongFormat],
    ['abc', wrongFormat],
    ['1 ', wrongFormat],
    ['1.2.3', wrongFormat],
    ['1Mib', wrongFormat],
    ['1Mi5', wrongSuffix],
    ['--1', wrongSuffix],
    ['1e', wrongSuffix],
    ['1KKi', wrongSuffix],
    ['1mi', wrongSuffix],
    ['1e99999999999999999999', wrongSuffix],
  ])('%j is refused: %s', (text, message) => {
    expect(() => Quantity.parse(text)).toThrow(message);
  });

  it('takes the forms that JSON allows', () => {
    expect(Quantity.fromJson(' 1Gi ').toString()).toBe('1Gi');
    expect(Quantity.fromJson(0.5).toString()).toBe('500m');
    expect(Quantity.fromJson(9223372036854775807n).toString()).toBe('9223372036854775807');
  });
});

describe('arithmetic', () => {
  const q = Quantity.parse;

  it.each([
    ['1', '500m', '1500m'],
    ['0', '1Gi', '1Gi'],
    ['1Gi', '1', '1073741825'],
    ['1Gi', '1Mi', '1025Mi'],
    ['9007199254740991', '9007199254740991', '18014398509481982'],
    ['1n', '1E', '1000000000000000000000000001n'],
  ])('%s + %s = %s', (a, b, sum) => {
    expect(q(a).add(q(b)).toString()).toBe(sum);
  });

  it('rounds away from zero when asked for a coarser unit', () => {
    expect(q('1001m').value()).toBe(2);
    expect(q('-1001m').value()).toBe(-2);
    expect(q('1u').milliValue()).toBe(1);
    expect(q('2Gi').milliValue()).toBe(2 ** 31 * 1000);
    expect(q('1500m').roundUp(0).toString()).toBe('2');
    expect(q('9223372036854775807').bigValue()).toBe(9223372036854775807n);
    expect(q('1500m').toNumber()).toBe(1.5);
  });

  it('survives exponents that cannot be spelled out', () => {
    const huge = q('1e999999999');
    expect(huge.compare(q('1Ei'))).toBe(1);
    expect(q('-1e999999999').compare(huge)).toBe(-1);
    expect(huge.add(q('1')).toString()).toBe('1e999999999');
    expect(q('1Gi').add(huge).compare(huge)).toBe(0);
    expect(huge.value()).toBe(Number.POSITIVE_INFINITY);
    expect(() => huge.bigValue()).toThrow(RangeError);
  });

  it('takes the lesser and the greater', () => {
    expect(maxQuantity(q('1'), q('999m')).toString()).toBe('1');
    expect(minQuantity(q('1'), q('999m')).toString()).toBe('999m');
  });
});

const quantityText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.stringMatching(/^[0-9]{1,25}$/),
    fc.option(fc.stringMatching(/^[0-9]{1,12}$/)),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2', 'e7'),
  )
  .map(([sign, integerPart, fraction, suffix]) => sign + integerPart + (fraction === null ? '' : `.${fraction}`) + suffix);

describe('properties', () => {
  it('parsing the canonical form gives the same number, and is stable', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const quantity = Quantity.parse(text);
        const again = Quantity.parse(quantity.toString());
        expect(again.compare(quantity)).toBe(0);
        expect(Quantity.parse(again.toString()).toString()).toBe(again.toString());
      }),
    );
  });

  it('addition is commutative in value, and subtraction undoes it', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (x, y) => {
        const [a, b] = [Quantity.parse(x), Quantity.parse(y)];
        expect(a.add(b).compare(b.add(a))).toBe(0);
        expect(a.add(b).sub(b).compare(a)).toBe(0);
      }),
    );
  });

  it('comparison agrees with the sign of the difference, and with exact integers', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (x, y) => {
        const [a, b] = [Quantity.parse(x), Quantity.parse(y)];
        expect(Math.sign(a.compare(b))).toBe(a.sub(b).sign);
        expect(Math.sign(a.compare(b))).toBe(-Math.sign(b.compare(a)) + 0);
        const difference = BigInt(nanos(a)) - BigInt(nanos(b));
        expect(a.compare(b)).toBe(difference === 0n ? 0 : difference > 0n ? 1 : -1);
      }),
    );
  });

  it('never hangs or crashes on other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0019.-+eEinumkKMGTP x') }), (text) => {
        try {
          Quantity.parse(text).toString();
        } catch (error) {
          expect((error as Error).name).toBe('QuantityError');
        }
      }),
    );
    expect(() => Quantity.parse(`${'0'.repeat(200_000)}x`)).toThrow('quantities must match');
  });
});

function nanos(quantity: Quantity): bigint {
  return quantity.mul(1_000_000_000).bigValue();
}
