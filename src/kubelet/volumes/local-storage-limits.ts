import type { core } from '#api';
import { Quantity } from '#machinery';

export interface LocalStorageUsage {
  /** Bytes by volume. */
  readonly volumes: ReadonlyMap<string, number>;
  /** Bytes of writable layers and logs, by container. */
  readonly containers: ReadonlyMap<string, number>;
}

/** Why a pod is evicted for its local storage usage, in upstream's words (including the trailing space); undefined within its limits. */
export function localStorageExcess(pod: core.Pod, usage: LocalStorageUsage): string | undefined {
  return emptyDirExcess(pod, usage) ?? podExcess(pod, usage) ?? containerExcess(pod, usage);
}

function emptyDirExcess({ spec }: core.Pod, { volumes }: LocalStorageUsage): string | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    if (limit === undefined || Quantity.parse(limit).isZero) continue;
    if (exceeds(volumes.get(name) ?? 0, limit)) return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
  }
  return undefined;
}

function podExcess(pod: core.Pod, { volumes, containers }: LocalStorageUsage): string | undefined {
  const limits = (pod.spec?.containers ?? []).flatMap(({ resources }) => resources?.limits?.['ephemeral-storage'] ?? []);
  if (limits.length === 0) return undefined;
  const total = limits.reduce((sum, limit) => sum.add(Quantity.parse(limit)), Quantity.zero).toString();
  const used = sumOf(containers.values()) + sumOf(ephemeralBytes(pod, volumes));
  return exceeds(used, total) ? `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. ` : undefined;
}

/** Volumes on the node's disk; memory-backed ones count as memory. */
function ephemeralBytes({ spec }: core.Pod, volumes: ReadonlyMap<string, number>): readonly number[] {
  const isOnDisk = ({ emptyDir, configMap }: core.Volume) => configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
  return (spec?.volumes ?? []).filter(isOnDisk).map(({ name }) => volumes.get(name) ?? 0);
}

function containerExcess({ spec }: core.Pod, { containers }: LocalStorageUsage): string | undefined {
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    if (limit !== undefined && exceeds(containers.get(name) ?? 0, limit)) {
      return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
    }
  }
  return undefined;
}

function exceeds(bytes: number, limit: string): boolean {
  return Quantity.of(Math.ceil(bytes)).compare(Quantity.parse(limit)) > 0;
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
