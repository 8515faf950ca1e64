import type { core } from '#api';
import { minOf } from '#base';
import { Quantity } from '#machinery';

/** The size of a tmpfs: the minimum of the node's memory, the pod's limit and the volume's sizeLimit. Undefined: unlimited. */
export function memoryVolumeSize(pod: core.Pod, sizeLimit?: string, allocatable?: string): number | undefined {
  const bounds = [allocatable, podMemoryLimit(pod), sizeLimit].map((text) => (text ? Quantity.parse(text).value() : 0));
  const least = minOf(bounds.filter((bytes) => bytes > 0));
  return Number.isFinite(least) ? least : undefined;
}

/** The memory limit of all containers together; undefined when one has none. */
export function podMemoryLimit({ spec }: core.Pod): string | undefined {
  const own = spec?.resources?.limits?.memory;
  if (own !== undefined) return own;
  const { containers = [], initContainers = [] } = spec ?? {};
  if ([...containers, ...initContainers].some((container) => !limitOf(container))) return undefined;
  let sidecars = Quantity.zero;
  let peak = Quantity.zero;
  for (const container of initContainers) {
    const limit = Quantity.parse(limitOf(container) ?? '0');
    if (container.restartPolicy === 'Always') sidecars = sidecars.add(limit);
    const needed = container.restartPolicy === 'Always' ? sidecars : sidecars.add(limit);
    if (needed.compare(peak) > 0) peak = needed;
  }
  const running = containers.reduce((sum, container) => sum.add(Quantity.parse(limitOf(container) ?? '0')), sidecars);
  return (running.compare(peak) > 0 ? running : peak).toString();
}

function limitOf({ resources }: core.Container): string | undefined {
  return resources?.limits?.memory;
}
