import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { core } from '#api';
import type { CgroupTree } from '../cgroups/cgroup-tree.ts';
import type { ContainerRuntime, ContainerStats } from '../cri/runtime.ts';
import type { ContainerUse, NodeMeasurements, NodeObservation, Observation, PodUse, PodUses } from '../eviction/measurements.ts';
import type { Signal } from '../eviction/thresholds.ts';
import { CONTAINER_NAME, POD_UID } from '../pods/labels.ts';
import { hasStorageLimit, localStorageExcess } from '../volumes/local-storage-limits.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';

export interface LinuxMeasurementsDeps {
  readonly runtime: ContainerRuntime;
  readonly volumes: Pick<PodVolumes, 'stats'>;
  /** The kubelet's directory, on the node's file system. */
  readonly rootDir: string;
  readonly memoryBytes: number;
  /** Undefined: the kubelet does not manage pod cgroups. */
  readonly cgroups: { readonly tree: CgroupTree; podsPath(): string; podPath(pod: core.Pod): string } | undefined;
  logDirectory(pod: core.Pod): string;
}

/** Reads /proc, cgroups and file systems. */
export function linuxMeasurements(deps: LinuxMeasurementsDeps): NodeMeasurements {
  return {
    observe: () => observe(deps),
    podUses: (pods) => podUses(pods, deps),
    localStorageExcess: (pod) => excessOf(pod, deps),
  };
}

async function observe(deps: LinuxMeasurementsDeps): Promise<NodeObservation> {
  const [memory, nodeFs, imageFs, processes] = await Promise.all([
    memoryObservations(deps),
    fileSystem(deps.rootDir),
    imageFileSystem(deps.runtime),
    processObservation(),
  ]);
  const observations = new Map<Signal, Observation>([
    ...memory,
    ['nodefs.available', nodeFs.space],
    ['nodefs.inodesFree', nodeFs.inodes],
    ['pid.available', processes],
  ]);
  const images = imageFs ?? nodeFs;
  observations.set('imagefs.available', images.space).set('imagefs.inodesFree', images.inodes);
  // File systems such as btrfs have no inode counts.
  for (const signal of ['nodefs.inodesFree', 'imagefs.inodesFree'] as const) {
    if (observations.get(signal)?.capacity === 0) observations.delete(signal);
  }
  return { observations, hasImageFs: images.device !== nodeFs.device };
}

async function memoryObservations({ cgroups, memoryBytes }: LinuxMeasurementsDeps): Promise<readonly (readonly [Signal, Observation])[]> {
  if (cgroups === undefined) return [];
  const { tree, podsPath } = cgroups;
  const machine = await tree.memory('');
  const all: (readonly [Signal, Observation])[] = [
    ['memory.available', { capacity: memoryBytes, available: Math.max(0, memoryBytes - machine.workingSetBytes) }],
  ];
  // The cgroup is created with the first pod.
  const ofPods = tree.exists(podsPath()) ? await tree.memory(podsPath()) : undefined;
  if (ofPods?.limitBytes === undefined) return all;
  const available = Math.max(0, ofPods.limitBytes - ofPods.workingSetBytes);
  return [...all, ['allocatableMemory.available', { capacity: available + ofPods.workingSetBytes, available }]];
}

async function fileSystem(path: string) {
  const [{ blocks, bavail, bsize, files, ffree }, { dev }] = await Promise.all([statfs(path), stat(path)]);
  return {
    device: dev,
    space: { capacity: blocks * bsize, available: bavail * bsize },
    inodes: { capacity: files, available: ffree },
  };
}

/** Undefined when the runtime does not report its image directory, or it is not accessible. */
async function imageFileSystem(runtime: ContainerRuntime) {
  const { imageFilesystems } = await runtime.imageFsInfo();
  const mountpoint = imageFilesystems[0]?.mountpoint;
  if (mountpoint === undefined || mountpoint === '') return undefined;
  return fileSystem(mountpoint).catch(() => undefined);
}

export async function processObservation(): Promise<Observation> {
  const [pidMax, threadsMax, load] = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max', '/proc/loadavg'].map((path) => readFile(path, 'utf8')),
  );
  const capacity = Math.min(Number(pidMax), Number(threadsMax));
  return { capacity, available: capacity - runningTasks(load ?? '') };
}

/** The number of tasks: the fourth field of `0.20 0.18 0.12 1/80 11206`, after the slash. */
export function runningTasks(loadavg: string): number {
  return Number(loadavg.split(' ')[3]?.split('/')[1] ?? 0);
}

async function podUses(pods: readonly core.Pod[], deps: LinuxMeasurementsDeps): Promise<PodUses> {
  const stats = new Map<string, ContainerStats[]>();
  for (const containerStats of await deps.runtime.listContainerStats()) {
    const uid = containerStats.attributes.labels[POD_UID] ?? '';
    stats.set(uid, [...(stats.get(uid) ?? []), containerStats]);
  }
  const uses = new Map<string, PodUse>();
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? '';
    const use = await podUse(pod, stats.get(uid) ?? [], deps).catch(() => undefined);
    if (use !== undefined) uses.set(uid, use);
  }
  return uses;
}

async function podUse(pod: core.Pod, stats: readonly ContainerStats[], deps: LinuxMeasurementsDeps): Promise<PodUse> {
  const { cgroups, volumes } = deps;
  const path = cgroups?.podPath(pod) ?? '';
  const [memory, processes] = cgroups === undefined ? [] : await Promise.all([cgroups.tree.memory(path), cgroups.tree.processCount(path)]);
  const local = (await volumes.stats(pod.metadata.uid ?? '')).filter(({ isEphemeral }) => isEphemeral);
  const containers = await Promise.all(stats.map((containerStats) => containerUse(containerStats, deps.logDirectory(pod))));
  return {
    memoryBytes: memory?.workingSetBytes ?? containers.reduce((sum, { memoryBytes = 0 }) => sum + memoryBytes, 0),
    processes,
    volumeBytes: local.reduce((sum, { usedBytes }) => sum + usedBytes, 0),
    volumeInodes: local.reduce((sum, { inodesUsed }) => sum + inodesUsed, 0),
    containers,
  };
}

async function containerUse({ attributes, memory, writableLayer }: ContainerStats, logDirectory: string): Promise<ContainerUse> {
  const name = attributes.labels[CONTAINER_NAME] ?? attributes.metadata.name;
  const logs = await filesIn(join(logDirectory, name));
  return {
    name,
    memoryBytes: memory?.workingSetBytes,
    rootfsBytes: writableLayer?.usedBytes,
    rootfsInodes: writableLayer?.inodesUsed,
    logBytes: logs.reduce((sum, bytes) => sum + bytes, 0),
    logInodes: logs.length,
  };
}

/** Only for pods with a limit, since measuring is expensive. */
async function excessOf(pod: core.Pod, deps: LinuxMeasurementsDeps): Promise<string | undefined> {
  if (!hasStorageLimit(pod)) return undefined;
  const uid = pod.metadata.uid ?? '';
  const [stats, volumes, nodeFs, imageFs] = await Promise.all([
    deps.runtime.listContainerStats({ labelSelector: { [POD_UID]: uid } }),
    deps.volumes.stats(uid),
    fileSystem(deps.rootDir),
    imageFileSystem(deps.runtime),
  ]);
  const uses = await Promise.all(stats.map((one) => containerUse(one, deps.logDirectory(pod))));
  return localStorageExcess(pod, {
    volumes: new Map(volumes.map(({ name, usedBytes }) => [name, usedBytes])),
    containers: new Map(uses.map(({ name, rootfsBytes = 0, logBytes = 0 }) => [name, { layerBytes: rootfsBytes, logBytes }])),
    hasImageFs: imageFs !== undefined && imageFs.device !== nodeFs.device,
  });
}

/** The sizes of a directory's files on disk. */
async function filesIn(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch(() => []);
  return Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      ),
    ),
  );
}
