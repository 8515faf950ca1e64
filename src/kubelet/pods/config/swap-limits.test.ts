import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type SwapFacts, swapLimits, swapResizeProblem } from './swap-limits.ts';

const GIB = 1024 ** 3;
const container = (request?: string, limit?: string): core.Container => ({
  name: 'c',
  resources: { ...(request && { requests: { memory: request } }), ...(limit && { limits: { memory: limit } }) },
});
const pod = (qosClass: string, priority = 0): core.Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], priority },
  status: { qosClass },
});
const facts = (changes: Partial<SwapFacts> = {}): SwapFacts => ({
  ...{ behavior: 'LimitedSwap', cgroupVersion: 2, memoryCapacityBytes: 8 * GIB, swapCapacityBytes: 4 * GIB },
  ...changes,
});
const max = (value: number) => ({ unified: { 'memory.swap.max': String(value) } });

describe('the swap of a container', () => {
  it.each([
    ['is its share of memory in a Burstable pod', pod('Burstable'), container('1Gi'), facts(), max(GIB / 2)],
    ['is its share also with a limit above the request', pod('Burstable'), container('2Gi', '3Gi'), facts(), max(GIB)],
    ['is none without LimitedSwap', pod('Burstable'), container('1Gi'), facts({ behavior: 'NoSwap' }), max(0)],
    ['is none in a Guaranteed pod', pod('Guaranteed'), container('1Gi', '1Gi'), facts(), max(0)],
    ['is none in a BestEffort pod', pod('BestEffort'), container(), facts(), max(0)],
    ['is none where the request is the limit', pod('Burstable'), container('1Gi', '1Gi'), facts(), max(0)],
    ['is none without a request for memory', pod('Burstable'), container(), facts(), max(0)],
    ['is none in a critical pod', pod('Burstable', 2_000_000_000), container('1Gi'), facts(), max(0)],
    ['is none for a request above what the machine has', pod('Burstable'), container('9Gi'), facts(), max(0)],
    [
      'is none with cgroup v1, beyond the memory limit',
      pod('Burstable'),
      container('1Gi', '2Gi'),
      facts({ cgroupVersion: 1 }),
      { memorySwapLimitInBytes: 2 * GIB },
    ],
    ['has no limit with cgroup v1 and no memory limit', pod('Burstable'), container('1Gi'), facts({ cgroupVersion: 1 }), {}],
  ] as const)('%s', (_, owner, spec, node, expected) => {
    expect(swapLimits(owner, spec, node)).toEqual(expected);
  });
});

describe('the resize in place of a container', () => {
  const owning = (own: core.Container): core.Pod => ({ ...pod('Burstable'), spec: { containers: [own] } });
  const rejection = { reason: 'Infeasible', message: 'In-place resize of containers with swap is not supported.' };
  const restarted = { ...container('1Gi'), resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] };
  it.each([
    ['to more memory is infeasible with swap', container('1Gi'), container('2Gi'), facts(), rejection],
    ['to as much memory is not', container('1Gi'), container('1024Mi', '3Gi'), facts(), undefined],
    ['to more memory is not where it restarts the container', restarted, container('2Gi'), facts(), undefined],
    ['to more memory is not without LimitedSwap', container('1Gi'), container('2Gi'), facts({ behavior: 'NoSwap' }), undefined],
    ['to more memory is not with cgroup v1', container('1Gi'), container('2Gi'), facts({ cgroupVersion: 1 }), undefined],
    ['to more memory is not where nothing counts swap', container('1Gi'), container('2Gi'), undefined, undefined],
  ])('%s', (_, before, after, swap, expected) => {
    expect(swapResizeProblem(owning(after), owning(before), swap)).toEqual(expected);
  });
});
