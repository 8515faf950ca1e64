import { afterAll } from 'vitest';
import { openHandles, settledLeaks } from './open-handles.ts';

// Every test file fails that leaves a timer, a socket, a process or a watcher behind: a component has to stop cleanly.
// Counted while this file loads, before the runner sets timers of its own.
const before = openHandles();

afterAll(async () => {
  const leaks = await settledLeaks(before);
  if (leaks.length > 0) throw new Error(`handles are still open after the tests of this file: ${leaks.join(', ')}`);
});
