import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { discovery } from '#api';
import { packSlices } from './pack-slices.ts';

const endpoint = (n: number, ready = true): discovery.Endpoint => ({ addresses: [`10.0.0.${n}`], conditions: { ready } });
const slice = (name: string, endpoints: readonly discovery.Endpoint[]): discovery.EndpointSlice => ({
  metadata: { name },
  addressType: 'IPv4',
  endpoints,
});
const options = (maxPerSlice: number) => ({
  maxPerSlice,
  empty: slice('', []),
  refresh: (unchanged: discovery.EndpointSlice) => unchanged,
});

describe('packing endpoints into slices', () => {
  it('changes nothing when all are there', () => {
    const existing = [slice('a', [endpoint(1), endpoint(2)])];
    expect(packSlices(existing, [endpoint(2), endpoint(1)], options(2))).toEqual({ create: [], update: [], remove: [] });
  });

  it('fills slices that change anyway before it makes new ones', () => {
    const existing = [slice('a', [endpoint(1), endpoint(2)]), slice('b', [endpoint(3)])];
    const changes = packSlices(existing, [endpoint(1), endpoint(3), endpoint(4), endpoint(5), endpoint(6)], options(2));
    expect(changes.update).toEqual([slice('a', [endpoint(1), endpoint(4)])]);
    expect(changes.create).toEqual([slice('', [endpoint(5), endpoint(6)])]);
  });

  it('holds each wanted endpoint once, in slices that are not too large, whatever there was', () => {
    const indexes = fc.uniqueArray(fc.nat(40), { maxLength: 25 });
    fc.assert(
      fc.property(fc.array(indexes, { maxLength: 4 }), indexes, fc.integer({ min: 1, max: 10 }), (before, desired, max) => {
        const seen = new Set<number>();
        const existing = before.map((numbers, i) =>
          slice(
            `s${i}`,
            numbers
              .filter((n) => !seen.has(n) && seen.add(n))
              .slice(0, max)
              .map((n) => endpoint(n)),
          ),
        );
        const changes = packSlices(
          existing,
          desired.map((n) => endpoint(n, false)),
          options(max),
        );
        const touched = new Set([...changes.update, ...changes.remove].map(({ metadata }) => metadata.name));
        const after = [...existing.filter(({ metadata }) => !touched.has(metadata.name)), ...changes.update, ...changes.create];
        expect(after.flatMap(({ endpoints }) => endpoints!.map(({ addresses }) => addresses[0])).sort()).toEqual(
          desired.map((n) => `10.0.0.${n}`).sort(),
        );
        for (const { endpoints } of after) expect(endpoints!.length).toBeLessThanOrEqual(max);
        expect(after.flatMap(({ endpoints }) => endpoints!).every(({ conditions }) => conditions?.ready === false)).toBe(true);
      }),
    );
  });
});
