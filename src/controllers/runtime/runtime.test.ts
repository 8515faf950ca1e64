import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import type { Controller } from './controller.ts';
import { enabledControllers } from './enabled-controllers.ts';
import { Expectations } from './expectations.ts';
import { podNamePrefix } from './pod-control.ts';
import { slowStartBatch } from './slow-start-batch.ts';

describe('expectations', () => {
  it('hold a controller back until everything that it did has arrived', () => {
    const expectations = new Expectations(new VirtualClock());
    expect(expectations.satisfied('k')).toBe(true);
    expectations.expectCreations('k', 2);
    expectations.creationObserved('k');
    expect(expectations.satisfied('k')).toBe(false);
    expectations.creationObserved('k');
    expect(expectations.satisfied('k')).toBe(true);
    expectations.expectDeletions('k', ['a', 'b']);
    expectations.deletionObserved('k', 'a');
    expectations.deletionObserved('k', 'somebody else deleted this');
    expect(expectations.satisfied('k')).toBe(false);
    expectations.deletionObserved('k', 'b');
    expect(expectations.satisfied('k')).toBe(true);
  });

  it('can grow while some are outstanding, and be forgotten', () => {
    const expectations = new Expectations(new VirtualClock());
    expectations.raise('k', { creations: 1 });
    expectations.raise('k', { deletions: ['a'] });
    expectations.creationObserved('k');
    expect(expectations.satisfied('k')).toBe(false);
    expectations.forget('k');
    expect(expectations.satisfied('k')).toBe(true);
  });

  it('are given up after five minutes: their events must have been lost', async () => {
    const clock = new VirtualClock();
    const expectations = new Expectations(clock);
    expectations.expectCreations('k', 1);
    await clock.advance(300_000);
    expect(expectations.satisfied('k')).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied('k')).toBe(true);
  });
});

describe('the list of controllers to run', () => {
  const controller = (name: string, enabledByDefault = true): Controller => ({
    name,
    aliases: [`${name}-old`],
    enabledByDefault,
    start: () => undefined,
  });
  const all = [controller('a'), controller('b'), controller('c', false)];
  it.each([
    [['*'], ['a', 'b']],
    [['*', '-a'], ['b']],
    [
      ['*', 'c'],
      ['a', 'b', 'c'],
    ],
    [['c'], ['c']],
    [[], []],
    [
      ['*', '-a-old', 'c-old'],
      ['b', 'c'],
    ],
    [['a', '-a'], ['a']],
  ])('%j means %j', (entries, names) => {
    expect(enabledControllers(all, entries).map(({ name }) => name)).toEqual(names);
  });

  it('is refused when it names one that is not known', () => {
    expect(() => enabledControllers(all, ['*', '-nope'])).toThrow('"nope" is not in the list of known controllers');
  });
});

describe('starting slowly', () => {
  it('doubles the batches while they succeed', async () => {
    const batches: number[] = [];
    let inFlight = 0;
    const result = await slowStartBatch(10, 1, async () => {
      inFlight++;
      await Promise.resolve();
      if (inFlight > 0) batches.push(inFlight);
      inFlight = 0;
    });
    expect(result).toEqual({ successes: 10, failure: undefined });
    expect(batches).toEqual([1, 2, 4, 3]);
  });

  it('stops after the first batch in which one fails', async () => {
    const attempts: number[] = [];
    const result = await slowStartBatch(10, 1, async (i) => {
      attempts.push(i);
      if (i === 2) throw new Error('quota');
    });
    expect(attempts).toEqual([0, 1, 2]);
    expect(result).toEqual({ successes: 2, failure: new Error('quota') });
  });
});

describe('the names of pods', () => {
  it.each([
    ['web', 'web-'],
    ['Not_Valid', 'Not_Valid'],
  ])('of %s begin with %s', (parent, prefix) => {
    expect(podNamePrefix(parent)).toBe(prefix);
  });
});
