import { expect, test } from 'vitest';
import { LeaderHealth } from './leader-health.ts';

test.each([
  ['a leader that renews', { isLeader: true, expiredMs: -14_000 }, undefined],
  ['a leader whose lease has just ended', { isLeader: true, expiredMs: 20_000 }, undefined],
  ['a leader that goes on without its lease', { isLeader: true, expiredMs: 20_001 }, 'failed election to renew leadership on lease l'],
  ['a candidate that waits', { isLeader: false, expiredMs: 60_000 }, undefined],
])('%s', (_name, term, problem) => {
  const health = new LeaderHealth();
  expect(health.problem()).toBeUndefined();
  health.watch({ leaseName: 'l', ...term });
  expect(health.problem()).toBe(problem);
});
