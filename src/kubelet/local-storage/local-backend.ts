import { chmod, mkdir, open, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram } from '#base';
import type { Mounter } from '../volumes/mount/mounter.ts';
import { hasLimit, limitDirectory, unlimitDirectory } from './project-quota.ts';

/** How a volume is stored: a directory that shares the disk, without a limit or with a project quota, a file with its own file system, which cannot exceed its size, or a file behind a block device. */
export const BACKINGS = ['directory', 'quota', 'loop', 'block'] as const;
export type Backing = (typeof BACKINGS)[number];

function isInImage(backing: Backing): backing is 'loop' | 'block' {
  return backing === 'loop' || backing === 'block';
}

export interface LocalVolumeRequest {
  readonly name: string;
  readonly backing: Backing;
  readonly bytes: number;
}

/** The volumes of one node. All calls are idempotent. */
export interface LocalBackend {
  /** The volume's path, whether it exists or not. */
  path(name: string, backing: Backing): string;
  /** Creates the volume; unfinished until `commit`. */
  create(request: LocalVolumeRequest): Promise<void>;
  commit(name: string): Promise<void>;
  /** Mounts it again after a reboot. */
  ensureMounted(request: LocalVolumeRequest): Promise<void>;
  expand(request: LocalVolumeRequest): Promise<void>;
  /** Unmounts it. The data stays. */
  release(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Names of volumes whose creation did not finish. */
  unfinished(): Promise<readonly string[]>;
}

/** For simulated nodes. */
export function simulatedBackend(root: string): LocalBackend {
  const noop = async () => {};
  return {
    path: (name) => join(root, name),
    create: noop,
    commit: noop,
    ensureMounted: noop,
    expand: noop,
    release: noop,
    remove: noop,
    unfinished: async () => [],
  };
}

/** The path within a volume's directory that pods get. */
const PLACES = { loop: 'data', block: 'device' } as const;
const MARKER = '.provisioning';
const TRASH = '.deleted-';

/** On this machine's disk, below one directory. */
export function directoryBackend(root: string, mounter: Mounter): LocalBackend {
  const place = (name: string) => {
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(name)) throw new Error(`not the name of a volume: "${name}"`);
    return join(root, name);
  };
  const image = (name: string) => `${place(name)}.img`;
  const marker = (name: string) => join(root, `.${basename(place(name))}${MARKER}`);
  const path = (name: string, backing: Backing) => (isInImage(backing) ? join(place(name), PLACES[backing]) : place(name));
  const mountLoop = async (name: string) => {
    await mkdir(place(name), { recursive: true, mode: 0o700 });
    if (await mounter.isMountPoint(place(name))) return;
    await mounter.mount({ source: image(name), target: place(name), fsType: 'ext4', options: ['loop'] });
  };
  const bindDevice = async (name: string) => {
    const target = path(name, 'block');
    await mkdir(place(name), { recursive: true, mode: 0o700 });
    if (await mounter.isMountPoint(target)) return;
    const device = (await loopDevices(image(name)))[0] ?? (await runProgram('losetup', ['--find', '--show', image(name)])).trim();
    // A mount instead of a symlink: after a reboot it is gone, where a link could lead to another device with the same number.
    await writeFile(target, '');
    await mounter.mount({ source: device, target });
  };
  const ensureMounted = async ({ name, backing }: LocalVolumeRequest) => {
    if (backing === 'loop') await mountLoop(name);
    if (backing === 'block') await bindDevice(name);
  };
  const release = async (name: string) => {
    const mounts = await mounter.mountsBelow(place(name));
    // bounded: spread lists are mounts, of which the kernel allows 100,000
    await mounter.unmount(...mounts.map(({ path }) => path).reverse());
    for (const device of await loopDevices(image(name))) await runProgram('losetup', ['--detach', device]);
  };
  return {
    path,
    release,
    async create(request) {
      const { name, backing, bytes } = request;
      await mkdir(root, { recursive: true, mode: 0o711 });
      await writeFile(marker(name), '');
      if (isInImage(backing)) await makeImage(image(name), bytes, backing);
      await ensureMounted(request);
      if (backing === 'block') return;
      await mkdir(path(name, backing), { recursive: true });
      // Containers may run as any user; fsGroup restricts the access if it is set.
      await chmod(path(name, backing), 0o777);
      if (backing === 'quota') await limitDirectory(place(name), bytes, mounter);
    },
    commit: (name) => rm(marker(name), { force: true }),
    ensureMounted,
    expand: async ({ name, backing, bytes }) => {
      if (backing === 'block') await growDevice(image(name), bytes);
      if (backing === 'quota') await limitDirectory(place(name), bytes, mounter);
      if (backing === 'loop') await growImage({ file: image(name), mountPoint: place(name), bytes }, mounter);
    },
    async remove(name) {
      await release(name);
      if (await hasLimit(place(name), mounter)) await unlimitDirectory(place(name), mounter);
      const doomed = join(root, `${TRASH}${name}`);
      // Renamed first, so that what a crash leaves is not a volume.
      await rename(place(name), doomed).catch(ignoreMissing);
      await rm(doomed, { recursive: true, force: true });
      for (const file of [image(name), unfinishedImage(image(name))]) await rm(file, { force: true });
      await rm(marker(name), { force: true });
    },
    unfinished: async () => {
      const names = await readdir(root).catch(() => []);
      return names.filter((name) => name.startsWith('.') && name.endsWith(MARKER)).map((name) => name.slice(1, -MARKER.length));
    },
  };
}

async function makeImage(file: string, bytes: number, backing: Backing): Promise<void> {
  // mkfs runs only on new files: a retry must not erase data.
  if ((await stat(file).catch(() => undefined)) !== undefined) return;
  const unfinished = unfinishedImage(file);
  await (await open(unfinished, 'w', 0o600)).close();
  await truncate(unfinished, bytes);
  if (backing === 'loop') await runProgram('mkfs.ext4', ['-q', '-F', '-m', '0', unfinished]);
  await rename(unfinished, file);
}

function unfinishedImage(file: string): string {
  return `${file}.new`;
}

interface Growth {
  readonly file: string;
  readonly mountPoint: string;
  readonly bytes: number;
}

async function growImage({ file, mountPoint, bytes }: Growth, mounter: Mounter): Promise<void> {
  const device = await growDevice(file, bytes);
  try {
    await runProgram('resize2fs', [device]);
  } catch (error) {
    // Some kernels and containers cannot grow a mounted file system: retried when no pod uses it.
    if (await isUsed(mountPoint, mounter)) throw error;
    await mounter.unmount(mountPoint);
    try {
      await runProgram('e2fsck', ['-f', '-p', file]);
      await runProgram('resize2fs', [file]);
    } finally {
      await mounter.mount({ source: file, target: mountPoint, fsType: 'ext4', options: ['loop'] });
    }
  }
}

/** Grows the file and its loop device; resolves to the device. */
async function growDevice(file: string, bytes: number): Promise<string> {
  if ((await stat(file)).size < bytes) await truncate(file, bytes);
  const [device] = await loopDevices(file);
  if (device === undefined) throw new Error(`${file} is not mounted`);
  await runProgram('losetup', ['--set-capacity', device]);
  return device;
}

/** The loop devices of a file. */
async function loopDevices(file: string): Promise<readonly string[]> {
  if ((await stat(file).catch(() => undefined)) === undefined) return [];
  const text = await runProgram('losetup', ['--noheadings', '--output', 'NAME', '--associated', file]);
  return text
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Whether the file system is also mounted elsewhere, for a pod. */
async function isUsed(mountPoint: string, mounter: Mounter): Promise<boolean> {
  const mounts = await mounter.mountsBelow('');
  const own = mounts.find(({ path }) => path === mountPoint);
  return mounts.filter(({ device }) => device === own?.device).length > 1;
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
