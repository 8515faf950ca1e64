import { describe, expect, it } from 'vitest';
import { createLogger, MetricsRegistry, VirtualClock } from '#base';
import { StatusError } from '#machinery';
import { isFault, Quarantine } from './quarantine.ts';

function setUp() {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const events: string[] = [];
  const logged: string[] = [];
  const logger = createLogger({ clock, level: 'warn', format: 'json', write: (line) => void logged.push(line) });
  const recorder = { warning: (_about: unknown, reason: string, message: string) => void events.push(`${reason}: ${message}`) };
  const quarantine = new Quarantine('controller', { clock, logger, metrics, recorder });
  const fail = (key: string, error: unknown = new TypeError('broken')) =>
    quarantine.failed({ key, error, about: () => ({ kind: 'Pod', name: key }) });
  const value = (name: string) => metrics.text().match(new RegExp(`^${name}\\{part="controller"\\} (\\d+)$`, 'm'))?.[1];
  return { clock, quarantine, events, logged, fail, value };
}

describe('an object that fails again and again', () => {
  it('is quarantined after five failures over ten seconds, with one event, and counted', async () => {
    const { clock, events, logged, fail, value } = setUp();
    for (let i = 0; i < 4; i++) expect(fail('a').isQuarantined).toBe(false);
    await clock.advance(10_000);
    for (let i = 0; i < 100; i++) expect(fail('a').isQuarantined).toBe(true);
    expect(events).toEqual([
      'Quarantined: controller failed 5 times in a row on this object, and tries it less and less often: TypeError: broken',
    ]);
    expect(logged).toHaveLength(5);
    expect([value('sampan_object_errors_total'), value('sampan_quarantines_total'), value('sampan_quarantined_objects')]).toEqual([
      '104',
      '1',
      '1',
    ]);
  });

  it('is not quarantined while the failures have lasted for a short time only', () => {
    const { fail, events } = setUp();
    for (let i = 0; i < 100; i++) expect(fail('a').isQuarantined).toBe(false);
    expect(events).toEqual([]);
  });

  it('leaves quarantine when it is handled, and gets another event the next time', async () => {
    const { clock, quarantine, events, fail, value } = setUp();
    for (let episode = 1; episode <= 2; episode++) {
      fail('a');
      await clock.advance(10_000);
      for (let i = 0; i < 5; i++) fail('a');
      expect([events.length, value('sampan_quarantined_objects')]).toEqual([episode, '1']);
      quarantine.succeeded('a');
      expect(value('sampan_quarantined_objects')).toBe('0');
    }
  });

  it('does not count against others', async () => {
    const { clock, fail } = setUp();
    for (let i = 0; i < 6; i++) {
      fail('a');
      await clock.advance(10_000);
    }
    expect([fail('a').isQuarantined, fail('b').isQuarantined]).toEqual([true, false]);
  });

  it('is quarantined at once where nobody tries again, and its text is cut', () => {
    const { quarantine, events } = setUp();
    const error = 'x'.repeat(100_000);
    quarantine.failed({ key: 'a', error, isFinal: true, about: () => ({ kind: 'Pod', name: 'a' }) });
    expect(events).toEqual([`Quarantined: controller cannot handle this object, and leaves it alone until it changes: ${'x'.repeat(500)}`]);
  });
});

it('a quarantine tracks at most ten thousand objects', async () => {
  const { clock, fail, value } = setUp();
  for (let i = 0; i < 10_100; i++) fail(`k${i}`);
  await clock.advance(10_000);
  for (let i = 0; i < 4; i++) fail('k0');
  expect(fail('k0').isQuarantined).toBe(false);
  for (let i = 0; i < 4; i++) fail('k10099');
  expect(value('sampan_quarantined_objects')).toBe('1');
});

it('API errors do not count towards the quarantine of an object', () => {
  expect([isFault(StatusError.conflict({ group: '', resource: 'pods' }, 'a', 'b')), isFault(new TypeError())]).toEqual([false, true]);
});
