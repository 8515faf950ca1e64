import { describe, expect, it } from 'vitest';
import { seededRandom, VirtualClock } from '#base';
import { EventNames } from './event-names.ts';

/** What two recorders of one process call three events each, all of the same moment. */
function namesOf(seed: number): readonly string[] {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const recorders = [new EventNames(clock, random), new EventNames(clock, random)];
  return recorders.flatMap((names) => [names.next('n1'), names.next('n1'), names.next('n1')]);
}

describe('names of events', () => {
  it('differ between recorders that tell of one object at one time', () => {
    for (let seed = 1; seed <= 50; seed++) expect(new Set(namesOf(seed)).size).toBe(6);
  });

  it('follow from the seed', () => {
    expect(namesOf(7)).toEqual(namesOf(7));
    expect(namesOf(7)).not.toEqual(namesOf(8));
  });

  it('tell the time, and grow with it', async () => {
    const clock = new VirtualClock();
    const names = new EventNames(clock, seededRandom(1));
    const timeOf = (name: string) => BigInt(`0x${name.replace('n1.', '')}`);
    const first = timeOf(names.next('n1'));
    expect(Number(first / 1_000_000n)).toBe(clock.now());
    expect(timeOf(names.next('n1'))).toBeGreaterThan(first);
    await clock.advance(1);
    expect(Number(timeOf(names.next('n1')) / 1_000_000n)).toBe(clock.now());
  });

  it('are made up for objects whose name allows no longer one', () => {
    expect(new EventNames(new VirtualClock(), seededRandom(1)).next('A_b')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
