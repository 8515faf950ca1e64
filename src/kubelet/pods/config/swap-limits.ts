import type { core } from '#api';
import { Quantity } from '#machinery';
import type { ContainerResources } from '../../cri/runtime.ts';
import type { PodRejection } from '../../status/pod-status.ts';
import { INFEASIBLE } from '../pod-resize.ts';
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
function swapBytes(pod: core.Pod, container: core.Container, facts: SwapFacts): number {
  const { memoryCapacityBytes: capacity, swapCapacityBytes } = facts;
  const request = bytesOf(container.resources?.requests?.memory);
  if (!maySwap(pod, container, facts) || capacity <= 0 || request > capacity) return 0;
  return Math.floor((request / capacity) * swapCapacityBytes);
}

function maySwap(pod: core.Pod, { resources }: core.Container, { behavior }: Pick<SwapFacts, 'behavior'>): boolean {
  const isWhole = bytesOf(resources?.requests?.memory) === bytesOf(resources?.limits?.memory);
  return behavior === 'LimitedSwap' && pod.status?.qosClass === 'Burstable' && !isCritical(pod) && !isWhole;
}

/** Memory of containers with swap is not resized in place, as upstream: their share of swap would have to follow. */
export function swapResizeProblem(
  desired: core.Pod,
  allocated: core.Pod,
  facts: Pick<SwapFacts, 'behavior' | 'cgroupVersion'> | undefined,
): PodRejection | undefined {
  if (facts?.cgroupVersion !== 2) return undefined;
  const before = new Map(containersOf(allocated).map((container) => [container.name, container]));
  const isProblem = (container: core.Container) => {
    const old = before.get(container.name);
    if (old === undefined || bytesOf(old.resources?.requests?.memory) === bytesOf(container.resources?.requests?.memory)) return false;
    const policy = old.resizePolicy?.find(({ resourceName }) => resourceName === 'memory');
    return policy?.restartPolicy !== 'RestartContainer' && (maySwap(desired, container, facts) || maySwap(allocated, old, facts));
  };
  if (!containersOf(desired).some(isProblem)) return undefined;
  return { reason: INFEASIBLE, message: 'In-place resize of containers with swap is not supported.' };
}

function containersOf({ spec }: core.Pod): readonly core.Container[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

function bytesOf(text: string | undefined): number {
  return text === undefined ? 0 : Quantity.parse(text).value();
}
