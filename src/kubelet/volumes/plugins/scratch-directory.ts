import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { release } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Mounter } from '../mount/mounter.ts';

const ANYBODY = 0o777;
const PARENT_MODE = 0o750;

/** Creates a world-writable directory on disk. */
export async function makeScratchDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: PARENT_MODE });
  const { mode } = await stat(path);
  if ((mode & ANYBODY) !== ANYBODY) await chmod(path, ANYBODY);
}

/** The same as a tmpfs of at most `size` bytes. */
export async function makeMemoryDirectory(path: string, size: number | undefined, mounter: Mounter): Promise<void> {
  await mkdir(path, { recursive: true, mode: PARENT_MODE });
  if (await mounter.isMountPoint(path)) return;
  const options = [...(size === undefined ? [] : [`size=${size}`]), ...(canDisableSwap(release()) ? ['noswap'] : [])];
  await mounter.mount({ source: 'tmpfs', target: path, fsType: 'tmpfs', options });
}

/** tmpfs supports `noswap` since Linux 6.4. */
export function canDisableSwap(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.', 2).map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}

/** Removes a directory with its content. Renamed first, so that what a crash leaves is not taken for a volume. */
export async function removeScratchDirectory(path: string): Promise<void> {
  const doomed = join(dirname(path), `deleting~${basename(path)}`);
  try {
    await rename(path, doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(doomed, { recursive: true, force: true });
}
