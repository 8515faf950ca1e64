import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import { ZoneEvictions } from './zone-evictions.ts';

function zone(rate: number, ...waiting: string[]) {
  const clock = new VirtualClock();
  const evicted: string[] = [];
  const evictions = new ZoneEvictions(clock, rate, (node) => evicted.push(`${node} at ${clock.monotonic() / 1000} s`));
  for (const node of waiting) evictions.add(node);
  return { clock, evicted, evictions };
}

describe('evictions in a zone', () => {
  it('begin at once, and go on at their rate', async () => {
    const { clock, evicted, evictions } = zone(0.1, 'a', 'b', 'c');
    evictions.start();
    await clock.advance(60_000);
    expect(evicted).toEqual(['a at 0 s', 'b at 10 s', 'c at 20 s']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('pass over nodes that are back', async () => {
    const { clock, evicted, evictions } = zone(0.1, 'a', 'b', 'c');
    evictions.start();
    evictions.remove('b');
    await clock.advance(60_000);
    expect(evicted).toEqual(['a at 0 s', 'c at 10 s']);
  });

  it('stop at a rate of nothing, and wait for a turn when they go on', async () => {
    const { clock, evicted, evictions } = zone(0.1, 'a', 'b');
    evictions.setRate(0);
    evictions.start();
    await clock.advance(60_000);
    expect(evicted).toEqual([]);
    evictions.setRate(0.1);
    evictions.start();
    await clock.advance(60_000);
    expect(evicted).toEqual(['a at 70 s', 'b at 80 s']);
  });

  it('wait at the new rate when it is lowered between two turns', async () => {
    const { clock, evicted, evictions } = zone(0.1, 'a', 'b');
    evictions.start();
    await clock.advance(5000);
    evictions.setRate(0.01);
    evictions.start();
    await clock.advance(300_000);
    expect(evicted).toEqual(['a at 0 s', 'b at 105 s']);
  });
});
