import type { core } from '#api';
import { Quantity } from '#machinery';
import type { ContainerResources } from '../../cri/runtime.ts';
import { isCritical } from './critical-pods.ts';

export interface SwapFacts {
  /** As `memorySwap.swapBehavior`. */
  readonly behavior: 'NoSwap' | 'LimitedSwap';
  readonly cgroupVersion: 1 | 2;
  readonly memoryCapacityBytes: number;
  readonly swapCapacityBytes: number;
}

/** What a container may swap, where the kernel counts swap. By upstream's rules, a share of swap needs cgroup v2. */
export function swapLimits(pod: core.Pod, container: core.Container, facts: SwapFacts): ContainerResources {
  if (facts.cgroupVersion === 2) return { unified: { 'memory.swap.max': String(swapBytes(pod, container, facts)) } };
  const limit = bytesOf(container.resources?.limits?.memory ?? pod.spec?.resources?.limits?.memory);
  // In v1 the limit is of memory and swap together.
  return limit > 0 ? { memorySwapLimitInBytes: limit } : {};
}

/** Burstable containers get swap as they request memory. */
function swapBytes(pod: core.Pod, { resources }: core.Container, facts: SwapFacts): number {
  const { behavior, memoryCapacityBytes: capacity, swapCapacityBytes } = facts;
  const request = bytesOf(resources?.requests?.memory);
  const isEligible = pod.status?.qosClass === 'Burstable' && !isCritical(pod) && request !== bytesOf(resources?.limits?.memory);
  if (behavior !== 'LimitedSwap' || !isEligible || capacity <= 0 || request > capacity) return 0;
  return Math.floor((request / capacity) * swapCapacityBytes);
}

function bytesOf(text: string | undefined): number {
  return text === undefined ? 0 : Quantity.parse(text).value();
}
