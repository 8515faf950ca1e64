import { describe, expect, it } from 'vitest';
import { memoryDecreaseProblem } from './memory-decrease.ts';

const MI = 1024 * 1024;
const containerBytes = new Map([['id', 40 * MI]]);
const limit = { id: 'id', name: 'c', limitBytes: 64 * MI, newLimitBytes: 16 * MI };
const memory = { usageBytes: 41 * MI, limitBytes: 64 * MI, newLimitBytes: 16 * MI, containerBytes };
const ofPod = 'attempting to set pod memory limit (16777216) below current usage (42991616)';
const ofContainer = 'attempting to set container "c" memory limit (16777216) below current usage (42991616)';

describe('lowering memory limits', () => {
  it.each([
    ['below what pod and container use', memory, [limit], `cannot decrease memory limits: [${ofPod}, ${ofContainer}]`],
    ['of a container alone', { ...memory, newLimitBytes: undefined }, [limit], `cannot decrease memory limits: ${ofContainer}`],
    ['that were not there before', { ...memory, limitBytes: undefined }, [], `cannot decrease memory limits: ${ofPod}`],
    ['above what is used', { ...memory, newLimitBytes: 48 * MI }, [{ ...limit, newLimitBytes: 48 * MI }], undefined],
    ['that rise instead', { ...memory, limitBytes: 8 * MI }, [{ ...limit, limitBytes: 8 * MI }], undefined],
  ])('%s', (_, pod, containers, problem) => {
    expect(memoryDecreaseProblem(pod, containers)).toBe(problem);
  });
});
