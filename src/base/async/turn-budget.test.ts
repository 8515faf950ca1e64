import { expect, test } from 'vitest';
import { realClock } from '../time/clock.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { TurnBudget } from './turn-budget.ts';

async function workUntil(isDone: () => boolean, budget: TurnBudget, steps: number): Promise<number> {
  let step = 0;
  while (!isDone() && step < steps) {
    step++;
    await Promise.resolve();
    if (budget.isSpent) await budget.next();
  }
  return step;
}

test('timers run between pieces of work that only wait for promises', async () => {
  let isFired = false;
  realClock.setTimer(1, () => {
    isFired = true;
  });
  const steps = 50_000_000;
  expect(await workUntil(() => isFired, new TurnBudget(realClock), steps)).toBeLessThan(steps);
});

test('a virtual clock never interrupts', () => {
  expect(new TurnBudget(new VirtualClock()).isSpent).toBe(false);
});
