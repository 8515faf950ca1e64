import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram } from '#base';
import type { Mounter } from '../volumes/mount/mounter.ts';
import { withImageLock } from './image-lock.ts';
import { attachLoop, growDevice, growImage, loopDevices, makeImage, unfinishedImage } from './loop-image.ts';
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
  /** Throws VolumeInUseError: the volume can grow when no pod uses it. */
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
    const device = await attachLoop(image(name));
    // A mount instead of a symlink: after a reboot it is gone, where a link could lead to another device with the same number.
    await writeFile(target, '');
    await mounter.mount({ source: device, target });
  };
  const ensureMounted = async ({ name, backing }: LocalVolumeRequest) => {
    // The kubelet may grow the image meanwhile, unmounted.
    if (backing === 'loop') await withImageLock(image(name), () => mountLoop(name));
    if (backing === 'block') await withImageLock(image(name), () => bindDevice(name));
  };
  const growLoop = async (name: string, bytes: number) => {
    // A growth that was killed leaves it unmounted.
    await mountLoop(name);
    await growImage({ file: image(name), mountPoint: place(name), bytes }, mounter);
  };
  const releaseMounts = async (name: string) => {
    const mounts = await mounter.mountsBelow(place(name));
    // bounded: spread lists are mounts, of which the kernel allows 100,000
    await mounter.unmount(...mounts.map(({ path }) => path).reverse());
    for (const device of await loopDevices(image(name))) await runProgram('losetup', ['--detach', device]);
  };
  const release = async (name: string) => {
    const isImage = await stat(image(name)).catch(() => undefined);
    await (isImage ? withImageLock(image(name), () => releaseMounts(name)) : releaseMounts(name));
  };
  return {
    path,
    release,
    async create(request) {
      const { name, backing, bytes } = request;
      await mkdir(root, { recursive: true, mode: 0o711 });
      await writeFile(marker(name), '');
      if (isInImage(backing)) await makeImage({ file: image(name), bytes, isFormatted: backing === 'loop' });
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
      if (backing === 'block') await withImageLock(image(name), () => growDevice(image(name), bytes));
      if (backing === 'quota') await limitDirectory(place(name), bytes, mounter);
      if (backing === 'loop') await withImageLock(image(name), () => growLoop(name, bytes));
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

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
