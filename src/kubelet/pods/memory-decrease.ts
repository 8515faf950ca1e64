/** The memory of a pod before its resize. */
export interface PodMemory {
  readonly usageBytes: number;
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined;
  readonly newLimitBytes: number | undefined;
  /** The usage of its containers by id. */
  readonly containerBytes: ReadonlyMap<string, number>;
}

export interface ContainerLimit {
  readonly id: string;
  readonly name: string;
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined;
  readonly newLimitBytes: number | undefined;
}

/** Why memory limits cannot be lowered: processes would be killed at once. Upstream's words. */
export function memoryDecreaseProblem(memory: PodMemory, containers: readonly ContainerLimit[]): string | undefined {
  const { usageBytes, newLimitBytes } = memory;
  const problems: string[] = [];
  if (isDecrease(memory) && usageBytes >= (newLimitBytes ?? 0))
    problems.push(`attempting to set pod memory limit (${newLimitBytes}) below current usage (${usageBytes})`);
  for (const container of containers) {
    const { id, name, newLimitBytes: limit = 0 } = container;
    if (!isDecrease(container) || (memory.containerBytes.get(id) ?? 0) < limit) continue;
    // As upstream, with the usage of the pod.
    problems.push(`attempting to set container "${name}" memory limit (${limit}) below current usage (${usageBytes})`);
  }
  if (problems.length === 0) return undefined;
  return `cannot decrease memory limits: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`;
}

function isDecrease({ limitBytes, newLimitBytes }: Pick<ContainerLimit, 'limitBytes' | 'newLimitBytes'>): boolean {
  return newLimitBytes !== undefined && (limitBytes === undefined || newLimitBytes < limitBytes);
}
