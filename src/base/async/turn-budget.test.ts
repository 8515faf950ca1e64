import { expect, test } from 'vitest';
import { realClock } from '../time/clock.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { runInTurns, TurnBudget } from './turn-budget.ts';

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

test('work on a virtual clock never yields', () => {
  expect(new TurnBudget(new VirtualClock()).isSpent).toBe(false);
});

test('work within its budget resolves synchronously', () => {
  expect(new TurnBudget(new VirtualClock()).resumeWith(5)).toBe(5);
});

test('work beyond its budget continues in the next turn', async () => {
  function* work(steps: number): Generator<void, number> {
    for (let i = 0; i < steps; i++) yield;
    return steps;
  }
  expect(runInTurns(work(10), new VirtualClock())).toBe(10);
  const long = runInTurns(work(10_000_000), realClock);
  expect(long).toBeInstanceOf(Promise);
  expect(await long).toBe(10_000_000);
});
