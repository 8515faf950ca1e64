import { ProgramError, runProgram } from '#base';
import { messageOf } from '../volume-plugin.ts';
import type { Mounter } from './mounter.ts';

export interface DeviceMount {
  readonly device: string;
  readonly target: string;
  readonly fsType: string;
  readonly options: readonly string[];
}

/** Mounts a block device. A device without a file system is formatted first, unless it is mounted read-only; existing data is never overwritten. */
export async function formatAndMount({ device, target, fsType, options }: DeviceMount, mounter: Mounter): Promise<void> {
  // It becomes part of a program's name, and pods may name it.
  if (!/^[a-z0-9]+$/.test(fsType)) throw new Error(`${JSON.stringify(fsType)} is not a file system type`);
  const content = await contentOf(device);
  if (content === undefined) {
    if (options.includes('ro')) throw new Error(`cannot mount unformatted disk ${device} as it is in read-only mode`);
    const isExt = fsType === 'ext4' || fsType === 'ext3';
    await runProgram(`mkfs.${fsType}`, [...(isExt ? ['-F', '-m0'] : []), device]);
  } else if (!options.includes('ro')) await repair(device);
  try {
    await mounter.mount({ source: device, target, fsType, options });
  } catch (error) {
    if (content === undefined || content === fsType) throw error;
    throw new Error(`failed to mount the volume as "${fsType}", it already contains ${content}. Mount error: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** fsck(8): errors were left uncorrected. */
const ERRORS_REMAIN = 4;

/** As upstream: only errors that fsck leaves keep the device from being mounted. */
async function repair(device: string): Promise<void> {
  await runProgram('fsck', ['-a', device], { timeoutMs: REPAIR_TIMEOUT_MS }).catch((error: unknown) => {
    if (!(error instanceof ProgramError)) throw error;
    if (error.exitCode !== ERRORS_REMAIN) return;
    throw new Error(`'fsck' found errors on device ${device} but could not correct them: ${error.message}`, { cause: error });
  });
}

/** A large file system that was not unmounted takes long. */
const REPAIR_TIMEOUT_MS = 30 * 60_000;

/** The exit code of blkid for a device without a known signature. */
const NO_SIGNATURE = 2;

/** The type of the file system or partition table on a device; undefined when there is neither. */
async function contentOf(device: string): Promise<string | undefined> {
  const text = await runProgram('blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device]).catch((error: unknown) => {
    if (error instanceof ProgramError && error.exitCode === NO_SIGNATURE) return '';
    throw error;
  });
  const values = new Map(text.split('\n').map((line) => line.split('=', 2) as [string, string]));
  return values.get('TYPE') ?? (values.has('PTTYPE') ? 'unknown data, probably partitions' : undefined);
}
