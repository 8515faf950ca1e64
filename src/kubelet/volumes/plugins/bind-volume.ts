import { mkdir, rmdir } from 'node:fs/promises';
import { type DeviceMount, formatAndMount } from '../mount/format-and-mount.ts';
import type { Mounter, MountRequest } from '../mount/mounter.ts';

/** Mounts a volume on its directory, unless it is mounted. */
export async function mountVolume(request: MountRequest, mounter: Mounter): Promise<void> {
  // First: looking at a mounted directory may wait for a server that is gone.
  if (await mounter.isMountPoint(request.target)) return;
  await mkdir(request.target, { recursive: true, mode: 0o750 });
  await mounter.mount(request);
}

/** Mounts a block device, unless it is mounted already. An empty device is formatted first. */
export async function mountDevice(request: DeviceMount, mounter: Mounter): Promise<void> {
  await mkdir(request.target, { recursive: true, mode: 0o750 });
  if (!(await mounter.isMountPoint(request.target))) await formatAndMount(request, mounter);
}

/** Unmounts it and removes the empty directory. The volume's files stay. */
export async function unmountVolume(path: string, mounter: Mounter): Promise<void> {
  if (await mounter.isMountPoint(path)) await mounter.unmount(path);
  try {
    await rmdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
