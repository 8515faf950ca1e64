import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mounter } from './mount/mounter.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { VolumePlugin } from './volume-plugin.ts';

export interface PodCleanUpDeps {
  readonly directories: PodDirectories;
  readonly mounter: Mounter;
  readonly plugins: readonly VolumePlugin[];
  /** A volume of a plugin begins to be unmounted; the function is told how that ended. */
  begin(plugin: string): (hasFailed: boolean) => void;
}

/**
 * Unmounts and removes everything of a pod on this machine, based only on the disk and the mount table, so that it also works for
 * volumes of an earlier kubelet. Nothing is removed through an existing mount.
 */
export async function tearDownVolumes(podUid: string, deps: PodCleanUpDeps): Promise<void> {
  const { directories, mounter } = deps;
  const directory = directories.pod(podUid);
  await unmountBelow(directories.subPaths(podUid), mounter);
  for (const kind of ['volumes', 'volumeDevices']) {
    const parent = join(directory, kind);
    for (const plugin of await namesIn(parent)) {
      for (const name of await namesIn(join(parent, plugin)))
        await tearDown({ podUid, name, path: join(parent, plugin, name) }, plugin, deps);
    }
  }
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
}

async function tearDown(volume: VolumeOnDisk, pluginDirectory: string, { plugins, mounter, begin }: PodCleanUpDeps): Promise<void> {
  const plugin = plugins.find(({ name }) => name.replace('/', '~') === pluginDirectory);
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
