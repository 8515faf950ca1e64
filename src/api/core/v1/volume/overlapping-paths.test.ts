import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type MappedPath, overlappingEntries } from './overlapping-paths.ts';

const textOf = ({ entry, other }: { entry: MappedPath; other: MappedPath }) =>
  `${entry.path} ${entry.source} with ${other.path} ${other.source}`;

/** Every entry with every one before it. */
function pairwise(paths: readonly MappedPath[]): readonly string[] {
  const entries = paths.map(({ path, source }) => ({ path: path.replace(/\/+$/, ''), source }));
  const pairs = entries.flatMap((entry, i) => entries.slice(0, i).map((other) => ({ entry, other })));
  const overlaps = pairs.filter(({ entry: { path: a }, other: { path: b } }) => {
    return a !== '' && b !== '' && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`));
  });
  return [...new Set(overlaps.map(textOf))];
}

it('overlapping paths are those that comparing every pair finds, in the same order', () => {
  const path = fc.stringMatching(/^[ab.]{0,2}(?:\/[ab.]{0,2}){0,3}$/);
  const paths = fc.array(fc.record({ path, source: fc.constantFrom('x', 'y') }), { maxLength: 12 });
  fc.assert(
    fc.property(paths, (list) => {
      expect([...new Set(Array.from(overlappingEntries(list), textOf))]).toEqual(pairwise(list));
    }),
    { numRuns: 500 },
  );
});

it('a path that is repeated many times has one overlap', () => {
  const paths = Array.from({ length: 12_000 }, () => ({ path: 'a', source: '' }));
  expect([...overlappingEntries(paths)].length).toBeLessThan(3);
});
