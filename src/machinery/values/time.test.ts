import { describe, expect, it } from 'vitest';
import { canonicalTime, formatMicroTime, formatTime, parseTime } from './time.ts';

describe('times', () => {
  it.each([
    ['2024-02-29T01:02:03Z', '2024-02-29T01:02:03Z'],
    ['2024-01-01T01:00:00+02:00', '2023-12-31T23:00:00Z'],
    ['2024-01-01T01:00:00.123456789Z', '2024-01-01T01:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ])('%s is stored as %s', (text, stored) => {
    expect(canonicalTime(text)).toBe(stored);
  });

  it.each([
    ['x', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    ['é"', 'parsing time "\\xc3\\xa9\\"" as "2006-01-02T15:04:05Z07:00": cannot parse "\\xc3\\xa9\\"" as "2006"'],
    ['2024-01-01', 'parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    ['2024-01-01T00:00:00', 'parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2023-02-20T24:00:00Z', 'parsing time "2023-02-20T24:00:00Z": hour out of range'],
    ['2023-02-20T23:00:00Zx', 'parsing time "2023-02-20T23:00:00Zx": extra text: "x"'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseTime(text)).toThrow(message);
  });

  it('are written from milliseconds', () => {
    expect(formatTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20Z');
    expect(formatMicroTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20.999000Z');
    expect(formatMicroTime(-1)).toBe('1969-12-31T23:59:59.999000Z');
    expect(parseTime('2023-11-14T22:13:20.999Z')).toBe(1_700_000_000_999);
    expect(parseTime('1969-12-31T23:59:59.999Z')).toBe(-1);
  });
});
