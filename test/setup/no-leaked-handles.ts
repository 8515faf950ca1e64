import { afterAll, beforeAll } from 'vitest';
import { type OpenHandles, openHandles, settledLeaks } from './open-handles.ts';

// Every test file fails that leaves a timer, a socket, a process or a watcher behind: a component has to stop cleanly.
let before: OpenHandles = new Map();

beforeAll(() => {
  before = openHandles();
});

afterAll(async () => {
  const leaks = await settledLeaks(before);
  if (leaks.length > 0) throw new Error(`handles are still open after the tests of this file: ${leaks.join(', ')}`);
});
