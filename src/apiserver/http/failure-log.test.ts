import { expect, test } from 'vitest';
import { createLogger, VirtualClock } from '#base';
import { StatusError } from '#machinery';
import { FailureLog } from './failure-log.ts';

const REQUEST = { method: 'POST', path: '/api' };

function setup() {
  const clock = new VirtualClock();
  const lines: { level?: string; message?: string }[] = [];
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
