import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { namesIn } from '../volumes/pod-clean-up.ts';
import type { PodDirectories } from '../volumes/pod-directories.ts';

/** Stored beside each mount, so that a later kubelet can undo it. The member names are upstream's. */
export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly specVolID: string;
  readonly nodeName: string;
  readonly attachmentID: string;
  readonly volumeLifecycleMode: 'Persistent' | 'Ephemeral';
  /** Whether it is staged besides being published. */
  readonly staged?: boolean;
  /** False if the driver needs no attachment. */
  readonly attachable?: boolean;
  /** Absent: a file system. */
  readonly volumeMode?: 'Block';
}

const FILE = 'vol_data.json';

/** Atomic: a crash leaves the previous state. */
export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const path = join(directory, FILE);
  await writeFile(`${path}.new`, JSON.stringify(data), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  try {
    const data = JSON.parse(await readFile(join(directory, FILE), 'utf8')) as VolumeData;
    if (typeof data.driverName !== 'string' || typeof data.volumeHandle !== 'string') throw new Error('it names no driver or volume');
    return data;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${join(directory, FILE)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export async function removeVolumeData(directory: string): Promise<void> {
  await rm(join(directory, FILE), { force: true });
}

/** The node-wide staging path of a volume. */
export function stagingDirectory(directories: PodDirectories, driver: string, handle: string): string {
  return join(directories.plugins, 'kubernetes.io/csi', driver, sha256(handle));
}

/** Every volume that is staged on this node, or was being staged. */
export async function stagedVolumes(directories: PodDirectories): Promise<readonly VolumeData[]> {
  const all = await Promise.all((await stagingDirectories(directories)).map(readVolumeData));
  return all.filter((data) => data !== undefined);
}

/** Staging directories without volume data, left by a crash: nothing is staged there. */
export async function emptyStagingDirectories(directories: PodDirectories): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const directory of await stagingDirectories(directories)) if ((await readVolumeData(directory)) === undefined) empty.push(directory);
  return empty;
}

async function stagingDirectories(directories: PodDirectories): Promise<readonly string[]> {
  const root = join(directories.plugins, 'kubernetes.io/csi');
  const paths: string[] = [];
  for (const driver of await namesIn(root)) for (const hash of await namesIn(join(root, driver))) paths.push(join(root, driver, hash));
  return paths;
}

/** Whether a pod on this node has the volume published, or was about to. */
export async function isPublished(
  { driverName, volumeHandle }: VolumeData,
  directories: PodDirectories,
  except?: string,
): Promise<boolean> {
  for (const uid of await namesIn(directories.pods)) {
    for (const place of [directories.volume(uid, 'kubernetes.io/csi', 'x'), directories.blockVolume(uid, 'kubernetes.io/csi', 'x')]) {
      for (const name of await namesIn(dirname(place))) {
        const path = join(dirname(place), name);
        const data = path === except ? undefined : await readVolumeData(path);
        if (data?.driverName === driverName && data.volumeHandle === volumeHandle && data.volumeLifecycleMode === 'Persistent') return true;
      }
    }
  }
  return false;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The name of the VolumeAttachment, derived by both the controller and the kubelet. */
export function attachmentName(handle: string, driver: string, nodeName: string): string {
  return `csi-${sha256(`${handle}${driver}${nodeName}`)}`;
}
