import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { leakedSince, openHandles, settledLeaks } from '../setup/open-handles.ts';

test('every test file is checked for handles that it leaves open', () => {
  expect(config.test?.setupFiles).toContain('test/setup/no-leaked-handles.ts');
});

test('an open server and a pending timer are found, and are gone once closed', async () => {
  const before = openHandles();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The runner has timers of its own: their number is only constant within one turn.
  const beforeTimer = openHandles();
  const timer = setTimeout(() => {}, 60_000);
  expect(leakedSince(beforeTimer)).toEqual(['1 × Timeout']);
  expect(await settledLeaks(before, 20)).toContain('1 × TCPServerWrap');
  clearTimeout(timer);
  server.close();
  expect(await settledLeaks(before)).toEqual([]);
});
