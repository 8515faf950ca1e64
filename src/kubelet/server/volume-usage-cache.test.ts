import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { VolumeUsageCache } from './volume-usage-cache.ts';

function cacheOf(periodMs: number) {
  const clock = new VirtualClock();
  const measured: string[] = [];
  const measure = async (uid: string) => {
    measured.push(uid);
    return [];
  };
  return { clock, measured, cache: new VolumeUsageCache(periodMs, { clock, measure }) };
}

test('the usage of volumes is measured once a period for each pod', async () => {
  const { cache, clock, measured } = cacheOf(60_000);
  for (const uid of ['a', 'b', 'a']) await cache.of(uid);
  expect(measured).toEqual(['a', 'b']);
  await clock.advance(60_000);
  await cache.of('a');
  expect(measured).toEqual(['a', 'b', 'a']);
});

test('the usage of volumes is measured for each request without a period', async () => {
  const { cache, measured } = cacheOf(0);
  for (const uid of ['a', 'a']) await cache.of(uid);
  expect(measured).toEqual(['a', 'a']);
});

test('the usage of volumes is not measured when the period is negative', async () => {
  const { cache, measured } = cacheOf(-1);
  expect(await cache.of('a')).toEqual([]);
  expect(measured).toEqual([]);
});
