import { mkdir } from 'node:fs/promises';
import type { core } from '#api';
import { setVolumeOwnership } from '../files/volume-ownership.ts';
import type { SetUpRequest, VolumePlugin } from '../volume-plugin.ts';
import { memoryVolumeSize } from './memory-size.ts';
import type { PluginDeps } from './plugin-deps.ts';
import { podOwnership } from './pod-ownership.ts';
import { makeMemoryDirectory, makeScratchDirectory, removeScratchDirectory } from './scratch-directory.ts';

const HUGE_PAGES = 'HugePages';
const RESOURCE_PREFIX = 'hugepages-';

/** An emptyDir: on disk, in memory, or in huge pages. */
export function emptyDirPlugin({ mounter, allocatable }: PluginDeps): VolumePlugin {
  const make = async ({ pod, spec, path }: SetUpRequest): Promise<void> => {
    const { medium = '', sizeLimit } = spec.volume.emptyDir ?? {};
    if (medium === '') return makeScratchDirectory(path);
    if (medium === 'Memory') return makeMemoryDirectory(path, memoryVolumeSize(pod, sizeLimit, allocatable()?.memory), mounter);
    const pageSize = hugePageSize(pod, medium);
    await mkdir(path, { recursive: true, mode: 0o750 });
    if (await mounter.isMountPoint(path)) return;
    await mounter.mount({ source: 'nodev', target: path, fsType: 'hugetlbfs', options: [`pagesize=${pageSize}`] });
  };
  return {
    name: 'kubernetes.io/empty-dir',
    supports: ({ volume }) => volume.emptyDir !== undefined,
    setUp: async (request) => {
      await make(request);
      const ownership = podOwnership(request.pod, false);
      if (ownership !== undefined) await setVolumeOwnership(request.path, ownership);
      return { hostPath: request.path, mustBeReadOnly: false, seLinuxRelabel: true };
    },
    tearDown: async ({ path }) => {
      if (await mounter.isMountPoint(path)) await mounter.unmount(path);
      await removeScratchDirectory(path);
    },
  };
}

/** `HugePages-2Mi` names the size; `HugePages` alone means the only size that the pod's containers request. */
export function hugePageSize({ spec }: core.Pod, medium: string): string {
  if (!medium.startsWith(HUGE_PAGES)) throw new Error(`unknown storage medium "${medium}"`);
  const names = [spec, ...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
    .flatMap((holder) => Object.keys({ ...holder?.resources?.requests, ...holder?.resources?.limits }))
    .filter((name) => name.startsWith(RESOURCE_PREFIX));
  const sizes = [...new Set(names.map((name) => name.slice(RESOURCE_PREFIX.length)))];
  if (medium === HUGE_PAGES && sizes.length > 1)
    throw new Error(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  const size = medium === HUGE_PAGES ? sizes[0] : medium.slice(HUGE_PAGES.length + 1);
  if (size === undefined || !sizes.includes(size))
    throw new Error(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  return size;
}
