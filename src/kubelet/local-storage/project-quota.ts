import { stat } from 'node:fs/promises';
import { runProgram } from '#base';
import type { MountPoint } from '../volumes/mount/mount-info.ts';
import type { Mounter } from '../volumes/mount/mounter.ts';

/** Smaller project IDs are left to administrators and other programs. */
const FIRST_PROJECT = 2 ** 31;
const BLOCK_BYTES = 1024;

/** Sets the size limit of a directory. Files that exist already are not counted. */
export async function limitDirectory(directory: string, bytes: number, mounter: Mounter): Promise<void> {
  const { path: mountPoint } = await quotaMount(directory, mounter);
  const project = await projectOf(directory);
  await runProgram('chattr', ['-p', String(project), '+P', directory]);
  await setLimit(project, bytes, mountPoint);
}

/** Whether the directory was limited. */
export async function hasLimit(directory: string, mounter: Mounter): Promise<boolean> {
  const isThere = await stat(directory).then(
    () => true,
    () => false,
  );
  if (!isThere || (await mountOf(directory, mounter))?.projectQuota !== true) return false;
  const [project] = (await runProgram('lsattr', ['-p', '-d', directory])).trim().split(/\s+/);
  return Number(project) === (await projectOf(directory));
}

/** Removes the limit of a directory that will be deleted. */
export async function unlimitDirectory(directory: string, mounter: Mounter): Promise<void> {
  await setLimit(await projectOf(directory), 0, (await quotaMount(directory, mounter)).path);
}

async function setLimit(project: number, bytes: number, mountPoint: string): Promise<void> {
  await runProgram('setquota', ['-P', String(project), '0', String(Math.ceil(bytes / BLOCK_BYTES)), '0', '0', mountPoint]);
}

/** Derived from the inode number, which is unique as long as the directory exists: no table of IDs is needed. */
async function projectOf(directory: string): Promise<number> {
  const { ino } = await stat(directory);
  if (ino >= FIRST_PROJECT) throw new Error(`the inode ${ino} of ${directory} is too large for the number of a project`);
  return FIRST_PROJECT + ino;
}

/** Rejects if the file system has no project quotas. */
async function quotaMount(directory: string, mounter: Mounter): Promise<MountPoint> {
  const mount = await mountOf(directory, mounter);
  if (mount?.projectQuota === true) return mount;
  throw new Error(
    `backing "quota" needs project quotas, and ${mount?.path ?? directory} (${mount?.fsType}) is mounted without them: use ext4 (mkfs.ext4 -O project,quota) ` +
      'or XFS and mount it with the option prjquota, or use backing "loop"',
  );
}

async function mountOf(directory: string, mounter: Mounter): Promise<MountPoint | undefined> {
  const mounts = (await mounter.mountsBelow('')).filter(
    ({ path }) => path === '/' || directory === path || directory.startsWith(`${path}/`),
  );
  // The last mount with the longest path is the visible one.
  return mounts.reduce<MountPoint | undefined>((best, next) => (best && best.path.length > next.path.length ? best : next), undefined);
}
