import { describe, expect, it } from 'vitest';
import { ttlSeconds, ttlStep } from './reconcile.ts';

describe('how long kubelets may cache secrets', () => {
  it.each([
    { nodes: 1, before: 0, seconds: 0 },
    { nodes: 100, before: 0, seconds: 0 },
    { nodes: 101, before: 0, seconds: 15 },
    { nodes: 95, before: 1, seconds: 15 },
    { nodes: 89, before: 1, seconds: 0 },
    { nodes: 700, before: 0, seconds: 30 },
    { nodes: 1500, before: 0, seconds: 60 },
    { nodes: 5000, before: 0, seconds: 300 },
    { nodes: 20_000, before: 0, seconds: 600 },
    { nodes: 10, before: 5, seconds: 0 },
  ])('is $seconds s with $nodes nodes, after step $before', ({ nodes, before, seconds }) => {
    expect(ttlSeconds(ttlStep(nodes, before))).toBe(seconds);
  });
});
