import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseFormattedDuration } from '../cel/values/formatted-strings.ts';
import { parseGoDuration } from '../cel/values/time.ts';
import { ValueValidator } from '../structural/value-validator.ts';
import {
  DurationError,
  formatDuration,
  formatDurationMs,
  humanDuration,
  parseDuration,
  parseDurationMs,
  shortHumanDuration,
} from './duration.ts';

describe('Go durations', () => {
  it.each([
    ['0', 0n, '0s'],
    ['1h', 3_600_000_000_000n, '1h0m0s'],
    ['1h30m', 5_400_000_000_000n, '1h30m0s'],
    ['-1.5s', -1_500_000_000n, '-1.5s'],
    ['250ms', 250_000_000n, '250ms'],
    ['1.5µs', 1_500n, '1.5µs'],
    ['7us', 7_000n, '7µs'],
    ['3ns', 3n, '3ns'],
    ['.5s', 500_000_000n, '500ms'],
    ['9223372036854775807ns', 9223372036854775807n, '2562047h47m16.854775807s'],
  ])('%s is %s ns and prints as %s', (text, nanoseconds, printed) => {
    expect(parseDuration(text)).toBe(nanoseconds);
    expect(formatDuration(nanoseconds)).toBe(printed);
  });

  it.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['1', 'time: missing unit in duration "1"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['.s', 'time: invalid duration ".s"'],
    ['-', 'time: invalid duration "-"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseDuration(text)).toThrow(message);
  });

  it('parses what it prints', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (ns) => {
        expect(parseDuration(formatDuration(ns))).toBe(ns);
      }),
    );
  });

  it('converts to and from milliseconds', () => {
    expect(parseDurationMs('1m30s')).toBe(90_000);
    expect(formatDurationMs(1500)).toBe('1.5s');
  });
});

describe('durations for people', () => {
  const s = 1000;
  const m = 60 * s;
  const h = 60 * m;
  const d = 24 * h;
  it.each([
    [-2 * s, '<invalid>', '<invalid>'],
    [-1 * s, '0s', '0s'],
    [0, '0s', '0s'],
    [59 * s, '59s', '59s'],
    [119 * s, '119s', '1m'],
    [2 * m, '2m', '2m'],
    [2 * m + 5 * s, '2m5s', '2m'],
    [10 * m + 5 * s, '10m', '10m'],
    [179 * m, '179m', '2h'],
    [3 * h, '3h', '3h'],
    [7 * h + 59 * m, '7h59m', '7h'],
    [47 * h + 59 * m, '47h', '1d'],
    [2 * d, '2d', '2d'],
    [2 * d + 3 * h, '2d3h', '2d'],
    [8 * d + 3 * h, '8d', '8d'],
    [729 * d, '729d', '1y'],
    [730 * d, '2y', '2y'],
    [731 * d, '2y1d', '2y'],
    [365 * 8 * d + d, '8y', '8y'],
  ])('%d ms is %s, in short %s', (ms, long, short) => {
    expect(humanDuration(ms)).toBe(long);
    expect(shortHumanDuration(ms)).toBe(short);
  });
});

test('a text is the same duration to the API, to schemas and to CEL', () => {
  const piece = fc.constantFrom('1', '0', '9'.repeat(19), '.', '-', '+', 'h', 'm', 's', 'ms', 'us', 'µs', 'ns', ' ', 'd', '1.5', '');
  const validator = new ValueValidator({ type: 'string', format: 'duration' });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      const parsed = durationOf(text);
      expect(parseGoDuration(text)?.nanos).toBe(parsed);
      if (parsed === undefined) return;
      expect(validator.validate(text).errors).toEqual([]);
      expect(parseFormattedDuration(text).nanos).toBe(parsed);
    }),
    { numRuns: 2000 },
  );
});

function durationOf(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch (error) {
    expect(error).toBeInstanceOf(DurationError);
    return undefined;
  }
}
