import { describe, expect, it } from 'vitest';
import { coalescingDelayMs } from './coalescing-delay.ts';

describe('coalescingDelayMs', () => {
  it.each([
    [0, 0],
    [99, 0],
    [200, 20],
    [4_000, 400],
    [20_000, 500],
  ])('delays the sync of %d objects by %d ms', (count, delayMs) => {
    expect(coalescingDelayMs(count)).toBe(delayMs);
  });
});
