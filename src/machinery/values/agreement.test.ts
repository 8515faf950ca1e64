import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseGoDuration } from '../cel/values/time.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { canonicalQuantity, Quantity } from './quantity.ts';

// A text that is checked by one reader and used by another means the same to both.

const piece = fc.constantFrom(
  '0',
  '1',
  '9',
  '00',
  '.',
  '-',
  '+',
  'e',
  'E',
  'n',
  'u',
  'm',
  'k',
  'Ki',
  'M',
  'Mi',
  'Ei',
  's',
  'h',
  'ms',
  'µs',
  'ns',
  ' ',
  '日',
);
const texts = fc.oneof(
  fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join('')),
  fc.string({ maxLength: 12 }),
);

function result<T>(read: () => T): { value: T } | undefined {
  try {
    return { value: read() };
  } catch {
    return undefined;
  }
}

describe('quantities', () => {
  test('are read alike as texts and as JSON, and their canonical form is the same quantity', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = result(() => Quantity.parse(text.trim()));
        // As upstream: blanks around a quantity in JSON do not count.
        const fromJson = result(() => Quantity.fromJson(` ${text}`));
        expect(fromJson !== undefined).toBe(parsed !== undefined);
        if (parsed === undefined || fromJson === undefined) return;
        expect(fromJson.value.equals(parsed.value)).toBe(true);
        const canonical = canonicalQuantity(text.trim());
        expect(Quantity.parse(canonical).equals(parsed.value)).toBe(true);
        expect(canonicalQuantity(canonical)).toBe(canonical);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('durations', () => {
  test('are read alike in objects and in expressions, and survive being written', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = result(() => parseDuration(text));
        expect(parseGoDuration(text)?.nanos).toBe(parsed?.value);
        if (parsed !== undefined) expect(parseDuration(formatDuration(parsed.value))).toBe(parsed.value);
      }),
      { numRuns: 3000 },
    );
  });
});
