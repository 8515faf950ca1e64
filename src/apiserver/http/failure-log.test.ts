import { expect, test } from 'vitest';
import { createLogger, VirtualClock } from '#base';
import { StatusError } from '#machinery';
import { StoreError, type StoreErrorCode } from '#store';
import { FailureLog } from './failure-log.ts';

const REQUEST = { method: 'POST', path: '/api' };

function setup() {
  const clock = new VirtualClock();
  const lines: { level?: string; message?: string; reason?: string }[] = [];
  const logger = createLogger({ clock, write: (line) => lines.push(JSON.parse(line)) });
  return { clock, lines, log: new FailureLog(logger, clock) };
}

test('unexpected errors are logged each time', () => {
  const { lines, log } = setup();
  log.write(new Error('a bug'), REQUEST);
  log.write(new Error('a bug'), REQUEST);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
});

test('errors of other components are logged once a minute', async () => {
  const { clock, lines, log } = setup();
  const away = () => StatusError.internalError(new Error('failed calling webhook'));
  for (let i = 0; i < 5; i++) log.write(away(), REQUEST);
  log.write(StatusError.internalError(new Error('another')), REQUEST);
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  await clock.advance(60_000);
  log.write(away(), REQUEST);
  expect(lines).toHaveLength(3);
});

test.each<StoreErrorCode>(['too-large', 'no-space', 'unavailable', 'outcome-unknown', 'denied'])(
  'a store that fails with %s is no bug: logged without a stack',
  (code) => {
    const { lines, log } = setup();
    log.write(new StoreError(code, 'etcdserver: some condition'), REQUEST);
    expect(lines).toMatchObject([{ level: 'warn', reason: 'etcdserver: some condition' }]);
    expect(JSON.stringify(lines)).not.toContain('failure-log.test');
  },
);

test('a damaged store is logged each time', () => {
  const { lines, log } = setup();
  for (let i = 0; i < 2; i++) log.write(new StoreError('corrupt', 'a record is damaged'), REQUEST);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
});
