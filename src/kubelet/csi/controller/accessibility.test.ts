import { describe, expect, test } from 'vitest';
import { spreadIndex } from './accessibility.ts';

describe('the first of the preferred topologies of a claim', () => {
  // Computed with an independent implementation of FNV-1.
  test.each([
    ['c', 7, 0],
    ['data-web-0', 7, 3],
    ['data-web-1', 7, 4],
    ['data-web-2', 7, 5],
    ['logs-web-1', 7, 4],
    ['data-web-4294967295', 7, 2],
    ['data-web-4294967296', 7, 5],
    ['a-', 7, 5],
  ])('of %s among %i is number %i', (claimName, count, index) => {
    expect(spreadIndex(claimName, count)).toBe(index);
  });
});
