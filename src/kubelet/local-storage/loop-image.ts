import { open, rename, stat, truncate } from 'node:fs/promises';
import { ProgramError, runProgram } from '#base';
import type { Mounter } from '../volumes/mount/mounter.ts';
import { messageOf } from '../volumes/volume-plugin.ts';

export interface NewImage {
  readonly file: string;
  readonly bytes: number;
  /** Whether it gets a file system. */
  readonly isFormatted: boolean;
}

/** Makes the file behind a loop device. */
export async function makeImage({ file, bytes, isFormatted }: NewImage): Promise<void> {
  // mkfs runs only on new files: a retry must not erase data.
  if ((await stat(file).catch(() => undefined)) !== undefined) return;
  const unfinished = unfinishedImage(file);
  await (await open(unfinished, 'w', 0o600)).close();
  await truncate(unfinished, bytes);
  if (isFormatted) await runProgram('mkfs.ext4', ['-q', '-F', '-m', '0', unfinished]);
  await rename(unfinished, file);
}

export function unfinishedImage(file: string): string {
  return `${file}.new`;
}

/** The file system cannot grow while pods use it. */
export class VolumeInUseError extends Error {
  override readonly name = 'VolumeInUseError';
}

export interface Growth {
  readonly file: string;
  readonly mountPoint: string;
  readonly bytes: number;
}

/** Grows an image and its file system: while it is mounted where the kernel allows it, else while no pod uses it. Throws VolumeInUseError. */
export async function growImage(growth: Growth, mounter: Mounter): Promise<void> {
  const device = await growDevice(growth.file, growth.bytes);
  try {
    await runProgram('resize2fs', [device]);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    // Growing what is mounted needs CAP_SYS_RESOURCE, which containers and some virtual machines lack.
    await growUnmounted(growth, mounter, error);
  }
}

async function growUnmounted({ file, mountPoint }: Growth, mounter: Mounter, cause: Error): Promise<void> {
  const device = await deviceNumber(mountPoint, mounter);
  if ((await mountsOf(device, mounter)).length > 1) throw new VolumeInUseError(messageOf(cause), { cause });
  await mounter.unmount(mountPoint);
  let loop: string | undefined;
  try {
    // A pod's mount that came in between keeps the file system in use; new ones are not possible from here on.
    if ((await mountsOf(device, mounter)).length > 0) throw new VolumeInUseError(messageOf(cause), { cause });
    loop = await attachLoop(file);
    // Both open the device exclusively: a concurrent mount of the image fails, and is retried.
    await runProgram('e2fsck', ['-f', '-p', loop]);
    await runProgram('resize2fs', [loop]);
  } finally {
    try {
      await mounter.mount({ source: file, target: mountPoint, fsType: 'ext4', options: ['loop'] });
    } finally {
      // Takes effect when it is unmounted.
      if (loop !== undefined) await runProgram('losetup', ['--detach', loop]);
    }
  }
}

async function deviceNumber(mountPoint: string, mounter: Mounter): Promise<string | undefined> {
  return (await mounter.mountsBelow(mountPoint)).find(({ path }) => path === mountPoint)?.device;
}

async function mountsOf(device: string | undefined, mounter: Mounter): Promise<readonly string[]> {
  return (await mounter.mountsBelow('')).filter((mount) => mount.device === device).map(({ path }) => path);
}

/** Grows the file and its loop device; resolves to the device. */
export async function growDevice(file: string, bytes: number): Promise<string> {
  if ((await stat(file)).size < bytes) await truncate(file, bytes);
  const [device] = await loopDevices(file);
  if (device === undefined) throw new Error(`${file} is not mounted`);
  await runProgram('losetup', ['--set-capacity', device]);
  return device;
}

/** The loop devices of a file. */
export async function loopDevices(file: string): Promise<readonly string[]> {
  if ((await stat(file).catch(() => undefined)) === undefined) return [];
  const text = await runProgram('losetup', ['--noheadings', '--output', 'NAME', '--associated', file]);
  return text
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The loop device of the file: an existing or a new one. */
export async function attachLoop(file: string): Promise<string> {
  return (await loopDevices(file))[0] ?? (await runProgram('losetup', ['--find', '--show', file])).trim();
}
