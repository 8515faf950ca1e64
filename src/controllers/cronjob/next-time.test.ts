import { describe, expect, it } from 'vitest';
import { batch } from '#api';
import { nextTime, zonedTime } from './next-time.ts';

describe('the next time of a schedule', () => {
  it.each([
    ['*/5 * * * *', '2026-01-01T00:00:00Z', '', '2026-01-01T00:05:00Z'],
    ['0 0 * * *', '2026-01-01T00:00:00Z', '', '2026-01-02T00:00:00Z'],
    ['30 6 1 * *', '2026-01-01T07:00:00Z', '', '2026-02-01T06:30:00Z'],
    ['0 9 * * mon', '2026-01-01T00:00:00Z', '', '2026-01-05T09:00:00Z'],
    ['0 0 13 * 5', '2026-01-01T00:00:00Z', '', '2026-01-02T00:00:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '', '2028-02-29T00:00:00Z'],
    ['@every 90s', '2026-01-01T00:00:00Z', '', '2026-01-01T00:01:30Z'],
    ['0 8 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin', '2026-07-01T06:00:00Z'],
    ['0 8 * * *', '2026-01-01T00:00:00Z', 'Europe/Berlin', '2026-01-01T07:00:00Z'],
    ['TZ=America/New_York 0 12 * * *', '2026-01-01T00:00:00Z', '', '2026-01-01T17:00:00Z'],
    ['30 2 29 3 *', '2026-03-28T00:00:00Z', 'Europe/Berlin', '2027-03-29T00:30:00Z'],
  ])('%s after %s in zone "%s" is %s', (schedule, after, zone, expected) => {
    const next = nextTime(batch.parseCronSchedule(schedule), Date.parse(after), zone);
    expect(next === undefined ? undefined : new Date(next).toISOString().replace('.000', '')).toBe(expected);
  });

  it('is undefined when no date matches', () => {
    expect(nextTime(batch.parseCronSchedule('0 0 30 2 *'), Date.UTC(2026, 0, 1), '')).toBeUndefined();
  });
});

describe('a time in a zone', () => {
  it.each([
    ['', '2026-07-01T06:00:00Z'],
    ['Europe/Berlin', '2026-07-01T08:00:00+02:00'],
    ['America/St_Johns', '2026-07-01T03:30:00-02:30'],
  ])('%s is written with its offset', (zone, expected) => {
    expect(zonedTime(Date.UTC(2026, 6, 1, 6), zone)).toBe(expected);
  });
});
