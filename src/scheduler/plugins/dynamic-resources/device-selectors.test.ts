import { expect, test } from 'vitest';
import type { resource } from '#api';
import { DeviceSelectors, SearchTooExpensive } from './device-selectors.ts';
import type { OfferedDevice } from './offered-devices.ts';

const slice = { spec: { driver: 'd.example.com' } } as resource.ResourceSlice;
const devices = Array.from({ length: 40 }, (_, i) => ({ id: `${i}`, device: { name: `g${i}` }, slice }) as OfferedDevice);
const selectors = (expression: string) => [{ cel: { expression } }];
const TEN = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]';
/** Costs about a third of what a single evaluation may. */
const EXPENSIVE = ['a', 'b', 'c', 'd', 'e'].reduceRight((inner, name) => `${TEN}.all(${name}, ${inner})`, 'true');

test('a search by expensive selectors ends, and the next ones get further until all is known', () => {
  const deviceSelectors = new DeviceSelectors();
  const searchesAll = () => {
    deviceSelectors.beginSearch();
    try {
      return devices.every((offered) => deviceSelectors.match(selectors(EXPENSIVE), offered, 'claim default/c'));
    } catch (error) {
      if (error instanceof SearchTooExpensive) return false;
      throw error;
    }
  };
  const searches = Array.from({ length: 40 }, searchesAll);
  expect([searches[0], searches.at(-1)]).toEqual([false, true]);
});

test('thousands of evaluations of usual selectors fit into one search', () => {
  const deviceSelectors = new DeviceSelectors();
  deviceSelectors.beginSearch();
  const matches = Array.from({ length: 50 }, (_, i) =>
    devices.every((offered) =>
      deviceSelectors.match(selectors(`device.driver == "d.example.com" && ${i} >= 0`), offered, 'claim default/c'),
    ),
  );
  expect(matches.every(Boolean)).toBe(true);
});

test('a failed evaluation is reported each time', () => {
  const deviceSelectors = new DeviceSelectors();
  deviceSelectors.beginSearch();
  for (let i = 0; i < 2; i++)
    expect(() =>
      deviceSelectors.match(selectors('device.attributes["d.example.com"].missing == 1'), devices[0]!, 'claim default/c'),
    ).toThrow('claim default/c: selector #0: CEL runtime error: no such key: missing');
});
