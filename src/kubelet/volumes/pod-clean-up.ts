import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Backoff, type Clock, type Logger } from '#base';
import type { Mounter } from './mount/mounter.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { VolumePlugin } from './volume-plugin.ts';

/** As upstream's volume operations; a step that fails longer is left to the pod worker's own retry. */
const RETRY = { initialMs: 500 };
const RETRIES = 4;

export interface PodCleanUpDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
  readonly directories: PodDirectories;
  readonly mounter: Mounter;
  readonly plugins: readonly VolumePlugin[];
  /** Called before a volume is unmounted; the returned function gets the outcome. */
  begin(plugin: string): (hasFailed: boolean) => void;
}

/**
 * Unmounts and removes the volumes of a pod. A failed step is retried soon: driver failures are often short, and the pod's next node is
 * waiting.
 */
export async function tearDownUntilDone(podUid: string, deps: PodCleanUpDeps): Promise<void> {
  const backoff = new Backoff(RETRY);
  for (;;) {
    try {
      return await tearDownVolumes(podUid, deps);
    } catch (error) {
      if (backoff.failures === RETRIES || deps.signal.aborted) throw error;
      deps.logger.info('volumes of a pod could not be unmounted; trying again', { pod: podUid, error });
    }
    await deps.clock.sleep(backoff.next(), deps.signal);
  }
}

/**
 * Unmounts and removes everything of a pod on this machine, based only on the disk and the mount table, so that it also works for
 * volumes of an earlier kubelet. Nothing is removed through an existing mount.
 */
export async function tearDownVolumes(podUid: string, deps: PodCleanUpDeps): Promise<void> {
  const { directories, mounter } = deps;
  const directory = directories.pod(podUid);
  await unmountBelow(directories.subPaths(podUid), mounter);
  // In parallel: a driver that does not respond must not block other volumes.
  const steps = (await volumesOnDisk(podUid, directory)).map((volume) => tearDown(volume, deps));
  const failure = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  for (const kind of ['volumes', 'volumeDevices', 'volume-subpaths']) await removeUnmounted(join(directory, kind), mounter);
}

/** The same, and the rest of the pod's directory. */
export async function cleanUpPod(podUid: string, deps: PodCleanUpDeps): Promise<void> {
  await tearDownVolumes(podUid, deps);
  await removeUnmounted(deps.directories.pod(podUid), deps.mounter);
}

async function removeUnmounted(directory: string, mounter: Mounter): Promise<void> {
  const [left] = await mounter.mountsBelow(directory);
  if (left !== undefined) throw new Error(`${left.path} is still mounted`);
  await rm(directory, { recursive: true, force: true });
}

interface VolumeOnDisk {
  readonly podUid: string;
  readonly name: string;
  readonly path: string;
  readonly pluginDirectory: string;
}

async function volumesOnDisk(podUid: string, directory: string): Promise<readonly VolumeOnDisk[]> {
  const volumes: VolumeOnDisk[] = [];
  for (const kind of ['volumes', 'volumeDevices']) {
    const parent = join(directory, kind);
    for (const pluginDirectory of await namesIn(parent)) {
      for (const name of await namesIn(join(parent, pluginDirectory)))
        volumes.push({ podUid, name, path: join(parent, pluginDirectory, name), pluginDirectory });
    }
  }
  return volumes;
}

async function tearDown(volume: VolumeOnDisk, { plugins, mounter, begin }: PodCleanUpDeps): Promise<void> {
  const plugin = plugins.find(({ name }) => name.replace('/', '~') === volume.pluginDirectory);
  const own = plugin?.ownMounts?.(volume.path) ?? [volume.path];
  // Containers may have mounted something in it that propagated to the host.
  await unmountBelow(volume.path, mounter, (path) => !own.includes(path));
  if (plugin !== undefined) {
    const end = begin(plugin.name);
    await plugin.tearDown(volume).catch((error: unknown) => {
      end(true);
      throw error;
    });
    end(false);
    return;
  }
  await unmountBelow(volume.path, mounter);
}

async function unmountBelow(directory: string, mounter: Mounter, filter: (path: string) => boolean = () => true): Promise<void> {
  const mounts = await mounter.mountsBelow(directory);
  const paths = mounts.map(({ path }) => path).filter(filter);
  // bounded: spread lists are mounts, of which the kernel allows 100,000
  await mounter.unmount(...paths.reverse());
}

export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
