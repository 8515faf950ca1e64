import { expect, test } from 'vitest';
import { realClock } from '#base';

test('the real clock tells the time', () => {
  expect(realClock.now()).toBeGreaterThan(0);
});
