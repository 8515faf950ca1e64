import { type core, quota } from '#api';
import { Quantity } from '#machinery';

export interface LocalStorageUsage {
  /** Bytes by volume. */
  readonly volumes: ReadonlyMap<string, number>;
  /** By container. */
  readonly containers: ReadonlyMap<string, ContainerStorage>;
  /** Writable layers are on a file system of their own, which is not the node's. */
  readonly hasImageFs: boolean;
}

export interface ContainerStorage {
  readonly layerBytes: number;
  readonly logBytes: number;
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
  const total = storageLimit(pod);
  if (total === undefined) return undefined;
  const ofContainers = [...containers.values()].map(({ layerBytes, logBytes }) => layerBytes + logBytes);
  const used = sumOf(ofContainers) + sumOf(ephemeralBytes(pod, volumes));
  return exceeds(used, total) ? `Pod ephemeral local storage usage exceeds the total limit of containers ${total}. ` : undefined;
}

/** What the containers of a pod may write together. */
function storageLimit({ metadata, spec }: core.Pod): string | undefined {
  return quota
    .podLimits({ metadata, ...(spec && { spec }) })
    .get('ephemeral-storage')
    ?.toString();
}

/** Whether a pod has any limit, so that its usage has to be measured. */
export function hasStorageLimit(pod: core.Pod): boolean {
  return storageLimit(pod) !== undefined || (pod.spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined);
}

/** Volumes on the node's disk; memory-backed ones count as memory. */
function ephemeralBytes({ spec }: core.Pod, volumes: ReadonlyMap<string, number>): readonly number[] {
  const isOnDisk = ({ emptyDir, configMap }: core.Volume) => configMap !== undefined || (emptyDir !== undefined && !emptyDir.medium);
  return (spec?.volumes ?? []).filter(isOnDisk).map(({ name }) => volumes.get(name) ?? 0);
}

function containerExcess({ spec }: core.Pod, { containers, hasImageFs }: LocalStorageUsage): string | undefined {
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    const { layerBytes = 0, logBytes = 0 } = containers.get(name) ?? {};
    if (limit !== undefined && !Quantity.parse(limit).isZero && exceeds(logBytes + (hasImageFs ? 0 : layerBytes), limit)) {
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
