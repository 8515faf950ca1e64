import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { core } from '#api';
import { type Clock, KeyedMutex } from '#base';
import type { Client } from '#client';
import { csiSecrets } from '../../csi/csi-secrets.ts';
import { checkAttached } from '../../csi/csi-volume.ts';
import { isBlockVolume } from '../../csi/volume-capability.ts';
import { setVolumeOwnership } from '../files/volume-ownership.ts';
import type { MountPoint } from '../mount/mount-info.ts';
import type { Mounter } from '../mount/mounter.ts';
import { namesIn } from '../pod-clean-up.ts';
import type { PodDirectories } from '../pod-directories.ts';
import { contextOption, type SeLinux } from '../se-linux.ts';
import type { MountedVolume, SetUpRequest, VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { remoteUsage } from '../volume-usage.ts';
import { mountDevice, mountVolume, unmountVolume } from './bind-volume.ts';
import { Iscsiadm, type IscsiTarget } from './iscsiadm.ts';
import { podOwnership } from './pod-ownership.ts';

export interface IscsiPluginDeps {
  readonly mounter: Mounter;
  readonly directories: PodDirectories;
  readonly client: Client;
  readonly clock: Clock;
  readonly seLinux: SeLinux;
  readonly nodeName: string;
}

const NAME = 'kubernetes.io/iscsi';
const DEFAULT_PORT = 3260;

/** Disks of iSCSI targets. Requires iscsiadm on the machine. */
export function iscsiPlugin(deps: IscsiPluginDeps, iscsiadm = new Iscsiadm(deps.clock)): VolumePlugin {
  const disks = new IscsiDisks(deps, iscsiadm);
  return {
    name: NAME,
    supports: (spec) => sourceOf(spec) !== undefined,
    attachedName: async (spec) => attachedName(spec),
    setUp: (request) => disks.setUp(request),
    tearDown: ({ path }) => disks.tearDown(path),
    usage: ({ path }) => remoteUsage(path),
    ownMounts: (path) => [path, join(path, 'device')],
    stagedNames: () => disks.stagedNames(),
    removeOrphans: () => disks.detachUnused(),
  };
}

/** Stored beside the node-wide mount, so that a later kubelet can log out. */
interface AttachedDisk extends IscsiTarget {
  readonly device: string;
  /** The name in node.status. */
  readonly attachedName?: string | undefined;
}

/** Each disk is mounted once per node and bind-mounted for each pod. */
class IscsiDisks {
  /** By target: logins and logouts of one target must not overlap. */
  readonly #locks = new KeyedMutex();
  /** The disks of this kubelet's volumes, by path: set before the login, so that what a failed set-up leaves is detached. */
  readonly #ofPath = new Map<string, AttachedDisk>();

  constructor(
    private readonly deps: IscsiPluginDeps,
    private readonly iscsiadm: Iscsiadm,
  ) {}

  async setUp(request: SetUpRequest): Promise<MountedVolume> {
    const { spec, pod, path } = request;
    const target = await this.#targetOf(request);
    const mustBeReadOnly = spec.readOnly || sourceOf(spec)?.readOnly === true;
    const isBlock = isBlockVolume(spec.persistentVolume);
    const label = isBlock ? undefined : await this.deps.seLinux.mountLabel(request);
    this.#ofPath.set(path, { ...target, secrets: {}, device: '', attachedName: attachedName(spec) });
    await this.#locks.run(target.iqn, async () => {
      const { mounter } = this.deps;
      if (await mounter.isMountPoint(isBlock ? join(path, 'device') : path)) return;
      // Another node may have the disk until the attach-detach controller has given it to this one.
      await checkAttached(attachedName(spec) ?? '', this.deps);
      const { device } = await this.#attach({ ...target, attachedName: attachedName(spec) });
      if (isBlock) return this.#bindDevice(device, join(path, 'device'));
      const options = [...(spec.persistentVolume?.spec?.mountOptions ?? []), ...contextOption(label), ...(mustBeReadOnly ? ['ro'] : [])];
      const fsType = sourceOf(spec)?.fsType || 'ext4';
      await mountDevice({ device, target: this.#placeOf(target), fsType, options }, mounter);
      await mountVolume({ source: this.#placeOf(target), target: path, ...(mustBeReadOnly && { options: ['ro'] }) }, mounter);
    });
    if (isBlock) return { devicePath: join(path, 'device'), mustBeReadOnly };
    const ownership = mustBeReadOnly ? undefined : podOwnership(pod, false);
    if (ownership !== undefined) await setVolumeOwnership(path, ownership);
    return { hostPath: path, mustBeReadOnly, seLinuxRelabel: !mustBeReadOnly && label === undefined };
  }

  /** Waits for the volume's own disk only: portals of other disks may be unreachable. */
  async tearDown(path: string): Promise<void> {
    const disk = this.#ofPath.get(path) ?? (await this.#mountedDisk(path));
    if (disk !== undefined) this.#ofPath.set(path, disk);
    await this.deps.mounter.unmount(join(path, 'device'));
    await rm(join(path, 'device'), { force: true });
    await unmountVolume(path, this.deps.mounter);
    if (disk !== undefined) await this.#detachUnused(disk);
    this.#ofPath.delete(path);
  }

  /** Detaches disks that no pod uses. In parallel: a portal that does not answer must not block others. */
  async detachUnused(): Promise<void> {
    const steps = (await this.#records()).map((disk) => this.#detachUnused(disk));
    const failure = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
  }

  /** By its record, which names the device. */
  async #detachUnused(disk: AttachedDisk): Promise<void> {
    await this.#locks.run(disk.iqn, async () => {
      const place = this.#placeOf(disk);
      const record = (await this.#records()).find((candidate) => this.#placeOf(candidate) === place);
      if (record !== undefined) await this.#detachIfUnused(record);
    });
  }

  /** The disk that an earlier kubelet mounted there. */
  async #mountedDisk(path: string): Promise<AttachedDisk | undefined> {
    const mounts = await this.deps.mounter.mountsBelow('');
    const own = mounts.find((mount) => mount.path === path || mount.path === join(path, 'device'));
    if (own === undefined) return undefined;
    for (const disk of await this.#records()) {
      const place = this.#placeOf(disk);
      if (mounts.some((mount) => mount.path === place && mount.device === own.device)) return disk;
      const name = basename(await realpath(disk.device).catch(() => ''));
      if (name !== '' && isDeviceOf(own, name)) return disk;
    }
    return undefined;
  }

  /** The names in node.status of disks with a possible session of this node. */
  async stagedNames(): Promise<readonly string[]> {
    return (await this.#records()).flatMap((disk) => disk.attachedName ?? []);
  }

  async #records(): Promise<readonly AttachedDisk[]> {
    const root = join(this.deps.directories.plugins, NAME);
    const disks: AttachedDisk[] = [];
    for (const iface of await namesIn(root)) {
      for (const file of (await namesIn(join(root, iface))).filter((name) => name.endsWith('.json'))) {
        const text = await readFile(join(root, iface, file), 'utf8').catch(ignoreMissing);
        if (text !== undefined) disks.push(JSON.parse(text) as AttachedDisk);
      }
    }
    return disks;
  }

  async #attach(target: Omit<AttachedDisk, 'device'>): Promise<AttachedDisk> {
    const place = this.#placeOf(target);
    await this.iscsiadm.prepareInterface(target);
    await mkdir(place, { recursive: true, mode: 0o750 });
    // Written before the login, so that sessions left by a crash are found.
    const { secrets: _, ...record } = target;
    await writeRecord(`${place}.json`, { ...record, device: '' });
    const disk = { ...target, device: await this.iscsiadm.logIn(target) };
    await writeRecord(`${place}.json`, { ...record, device: disk.device });
    return disk;
  }

  async #detachIfUnused(disk: AttachedDisk): Promise<void> {
    const { mounter } = this.deps;
    const place = this.#placeOf(disk);
    if (await this.#isUsed(disk)) return;
    await mounter.unmount(place);
    const others = (await readdir(dirname(place))).filter(
      (name) => name.endsWith('.json') && name.includes(`-${disk.iqn}-lun-`) && name !== `${basename(place)}.json`,
    );
    // Other LUNs of the target share its sessions.
    if (others.length === 0) await this.iscsiadm.logOut(disk);
    await rm(place, { recursive: true, force: true });
    await rm(`${place}.json`, { force: true });
  }

  /** Whether a pod uses the disk, as a file system or as a device. */
  async #isUsed(disk: AttachedDisk): Promise<boolean> {
    const place = this.#placeOf(disk);
    const mounts = await this.deps.mounter.mountsBelow('');
    const own = mounts.find(({ path }) => path === place);
    if (own !== undefined && mounts.some(({ device, path }) => device === own.device && path !== place)) return true;
    const name = basename(await realpath(disk.device).catch(() => ''));
    return name !== '' && mounts.some((mount) => isDeviceOf(mount, name) && mount.path.startsWith(`${this.deps.directories.pods}/`));
  }

  async #bindDevice(device: string, target: string): Promise<void> {
    await mkdir(dirname(target), { recursive: true, mode: 0o750 });
    if ((await stat(target).catch(() => undefined)) === undefined) await writeFile(target, '');
    await this.deps.mounter.mount({ source: device, target });
  }

  /** Upstream's directory name. */
  #placeOf({ portals, iqn, lun, iface }: IscsiTarget): string {
    return join(this.deps.directories.plugins, NAME, `iface-${iface}`, `${portals[0]}-${iqn}-lun-${lun}`);
  }

  async #targetOf({ spec, pod }: SetUpRequest): Promise<IscsiTarget> {
    const source = sourceOf(spec);
    if (source === undefined) throw new Error('not an iSCSI volume');
    const { targetPortal, portals = [], iqn, lun, iscsiInterface = 'default', initiatorName, secretRef } = source;
    const { name, namespace = pod.metadata.namespace } = (secretRef ?? {}) as core.SecretReference;
    const all = [...new Set([targetPortal, ...portals].map(withPort))];
    return {
      ...{ portals: all, iqn, lun: Number(lun), baseIface: iscsiInterface, initiatorName, secrets: {} },
      // The initiator name is a setting of the interface, so such a disk gets its own interface.
      iface: initiatorName ? `${all[0]}:${spec.name}` : iscsiInterface,
      ...(name && namespace && { secrets: await csiSecrets({ name, namespace }, this.deps.client) }),
      chapDiscovery: source.chapAuthDiscovery === true,
      chapSession: source.chapAuthSession === true,
    };
  }
}

function isDeviceOf({ root, fsType }: MountPoint, name: string): boolean {
  return fsType === 'devtmpfs' && root === `/${name}`;
}

function sourceOf({ volume, persistentVolume }: VolumeSpec): core.ISCSIVolumeSource | core.ISCSIPersistentVolumeSource | undefined {
  return persistentVolume?.spec?.iscsi ?? volume.iscsi;
}

function attachedName(spec: VolumeSpec): string | undefined {
  return core.inTreeAttachedName({ iscsi: sourceOf(spec) });
}

/** Renamed into place: a record truncated by a crash would hide the session. */
async function writeRecord(path: string, record: object): Promise<void> {
  await writeFile(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

/** A disk may be detached while the records are read. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

function withPort(portal: string): string {
  return /(^[^:]+|\]):\d+$/.test(portal) ? portal : `${portal}:${DEFAULT_PORT}`;
}
