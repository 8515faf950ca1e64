import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { BurstMeter } from './burst-meter.ts';

function meter() {
  const clock = new VirtualClock();
  let ends = 0;
  const burst = new BurstMeter(clock, () => ends++);
  const note = (times: number) => {
    for (let i = 0; i < times; i++) burst.note();
  };
  return { clock, burst, note, ends: () => ends };
}

test('single occurrences are no burst', async () => {
  const { clock, burst, note } = meter();
  for (let i = 0; i < 10; i++) {
    note(15);
    expect(burst.isOn).toBe(false);
    await clock.advance(250);
  }
});

test('a burst lasts while events are frequent, and its end is reported once', async () => {
  const { clock, burst, note, ends } = meter();
  for (let i = 0; i < 4; i++) {
    note(20);
    await clock.advance(200);
  }
  expect([burst.isOn, ends()]).toEqual([true, 0]);
  await clock.advance(500);
  expect([burst.isOn, ends()]).toEqual([false, 1]);
  note(1);
  await clock.advance(1000);
  expect([burst.isOn, ends()]).toEqual([false, 1]);
});
