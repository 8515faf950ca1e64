import { mkdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type core, storage } from '#api';
import { type Clock, grpcStatus, KeyedMutex, raceAbort, timeoutSignal } from '#base';
import type { Client } from '#client';
import { setVolumeOwnership } from '../volumes/files/volume-ownership.ts';
import type { Mounter } from '../volumes/mount/mounter.ts';
import type { PodTokens } from '../volumes/payload/pod-tokens.ts';
import { podOwnership } from '../volumes/plugins/pod-ownership.ts';
import type { PodDirectories } from '../volumes/pod-directories.ts';
import type { SeLinux } from '../volumes/se-linux.ts';
import {
  type MountedVolume,
  messageOf,
  type SetUpRequest,
  VolumeError,
  type VolumePlugin,
  type VolumeSpec,
} from '../volumes/volume-plugin.ts';
import type { FileSystemUsage } from '../volumes/volume-usage.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { csiSecrets } from './csi-secrets.ts';
import { csiUsage } from './csi-usage.ts';
import { attachedNameOf, CSI_PLUGIN, type CsiVolume, driverOptions, resolveCsiVolume } from './csi-volume.ts';
import { NodeExpandVolume, NodePublishVolume, NodeStageVolume, NodeUnpublishVolume, NodeUnstageVolume } from './messages.ts';
import { podVolumeInfo } from './pod-volume-context.ts';
import { isBlockVolume } from './volume-capability.ts';
import {
  attachmentName,
  emptyStagingDirectories,
  isPublished,
  readVolumeData,
  removeVolumeData,
  stagedVolumes,
  stagingDirectory,
  type VolumeData,
  writeVolumeData,
} from './volume-data.ts';
import type { VolumeLimits } from './volume-limits.ts';

export interface CsiPluginDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly mounter: Mounter;
  readonly directories: PodDirectories;
  readonly tokens: PodTokens;
  readonly drivers: CsiDrivers;
  readonly nodeName: string;
  readonly seLinux: SeLinux;
  /** Absent: limits are read when a driver registers. */
  readonly limits?: Pick<VolumeLimits, 'refresh'> | undefined;
}

/** The interval of NodePublishVolume calls for drivers with requiresRepublish. */
const REPUBLISH_MS = 60_000;
/** Stats wait for all volumes: a driver that does not respond in time is skipped. */
const USAGE_TIMEOUT_MS = 5_000;

/** CSI volumes: staged once per node if the driver supports it, published for each pod. */
export function csiPlugin(deps: CsiPluginDeps): VolumePlugin {
  const mounts = new CsiMounts(deps);
  return {
    name: CSI_PLUGIN,
    supports: ({ volume, persistentVolume }) => (persistentVolume?.spec?.csi ?? volume.csi) !== undefined,
    attachedName: (spec) => mounts.attachedName(spec),
    exceedsLimit: (spec) => mounts.exceedsLimit(spec).catch(() => false),
    setUp: (request) => mounts.setUp(request),
    tearDown: ({ path }) => mounts.tearDown(path),
    // Undone by the driver, which may have to do more than unmount.
    ownMounts: (path) => [targetIn(path, false), targetIn(path, true)],
    expand: (request, bytes) => mounts.expand(request, bytes),
    usage: (request) => mounts.usage(request),
    stagedNames: async () => {
      const staged = await stagedVolumes(deps.directories);
      return staged.filter(({ attachable }) => attachable !== false).map(attachedNameOf);
    },
    removeOrphans: () => mounts.unstageUnused(),
  };
}

class CsiMounts {
  /** Serializes staging and unstaging of one volume. */
  readonly #locks = new KeyedMutex();

  constructor(private readonly deps: CsiPluginDeps) {}

  async attachedName({ persistentVolume }: VolumeSpec): Promise<string | undefined> {
    const { driver: driverName, volumeHandle } = persistentVolume?.spec?.csi ?? {};
    if (driverName === undefined || volumeHandle === undefined) return undefined;
    const { attachRequired } = await driverOptions(driverName, this.deps.client);
    return attachRequired === false ? undefined : attachedNameOf({ driverName, volumeHandle });
  }

  /** For drivers whose limit may change: the scheduler did not know the present one, so it is read again for the next pod. */
  async exceedsLimit({ persistentVolume }: VolumeSpec): Promise<boolean> {
    const { driver = '', volumeHandle = '' } = persistentVolume?.spec?.csi ?? {};
    const { client, nodeName, limits } = this.deps;
    if (limits === undefined || !(await driverOptions(driver, client)).nodeAllocatableUpdatePeriodSeconds) return false;
    const { status } = await client.of(storage.VolumeAttachment).get({ name: attachmentName(volumeHandle, driver, nodeName) });
    if (status?.attachError?.errorCode !== grpcStatus.resourceExhausted) return false;
    await limits.refresh(driver).catch(() => {});
    return true;
  }

  async setUp(request: SetUpRequest): Promise<MountedVolume> {
    const { spec, path } = request;
    const isBlock = isBlockVolume(spec.persistentVolume);
    const target = targetIn(path, isBlock);
    const options = await driverOptions(driverNameOf(spec), this.deps.client);
    const mustBeReadOnly = spec.readOnly || spec.persistentVolume?.spec?.csi?.readOnly === true;
    const refreshAtMs = options.requiresRepublish === true ? this.deps.clock.now() + REPUBLISH_MS : undefined;
    const isThere = await this.#isPublishedAt(target, isBlock);
    if (!isThere || refreshAtMs !== undefined) {
      const volume = await resolveCsiVolume(request, options, this.deps);
      await this.#locks.run(stagingName(volume.data), async () => {
        // Written first, so that a crash after the driver's call is cleaned up.
        await writeVolumeData(path, volume.data);
        if (volume.data.staged === true) await this.#stage(volume);
        await this.#publish(volume, target, mustBeReadOnly);
      });
      if (!(await this.#isPublishedAt(target, isBlock))) throw new Error(`driver ${volume.driver.name} published nothing at ${target}`);
      if (!isThere && !isBlock) await this.#setOwnership(volume, target, mustBeReadOnly);
    }
    const seLinuxRelabel = !isBlock && !mustBeReadOnly && (await this.#mustBeRelabeled(target));
    return { ...(isBlock ? { devicePath: target } : { hostPath: target }), mustBeReadOnly, seLinuxRelabel, refreshAtMs };
  }

  /** A volume that is mounted with the option `context` needs no relabeling. */
  async #mustBeRelabeled(target: string): Promise<boolean> {
    const mounts = await this.deps.mounter.mountsBelow(target);
    return mounts.some(({ path, seLinuxLabels }) => path === target && seLinuxLabels);
  }

  /** If a driver reports success without publishing, the pod must not write to the node's disk instead. */
  async #isPublishedAt(target: string, isBlock: boolean): Promise<boolean> {
    if (!isBlock) return this.deps.mounter.isMountPoint(target);
    const stats = await stat(target).catch(() => undefined);
    return stats?.isBlockDevice() === true;
  }

  async tearDown(path: string): Promise<void> {
    const data = await readVolumeData(path);
    if (data === undefined) return removeEmpty(join(path, 'mount'), path);
    await this.#locks.run(stagingName(data), async () => {
      const isBlock = data.volumeMode === 'Block';
      const target = targetIn(path, isBlock);
      const driver = this.deps.drivers.get(data.driverName);
      await driver.call(NodeUnpublishVolume, { volumeId: data.volumeHandle, targetPath: target });
      if (await this.#isPublishedAt(target, isBlock)) throw new Error(`driver ${data.driverName} left ${target} mounted`);
      await rm(target, { recursive: true, force: true });
      // The volume data is removed last, so that failed steps are retried.
      if (data.volumeLifecycleMode === 'Persistent' && data.staged === true) await this.#unstageIfUnused(data, path);
      await removeVolumeData(path);
      await removeEmpty(path);
    });
  }

  /** Resolves to whether the driver expands volumes on nodes. */
  async expand(request: SetUpRequest, requiredBytes: number): Promise<boolean> {
    const { spec, path } = request;
    const volume = await resolveCsiVolume(request, await driverOptions(driverNameOf(spec), this.deps.client), this.deps);
    const { data, driver, capability } = volume;
    if (!(await driver.hasNodeCapability('EXPAND_VOLUME'))) return false;
    const secrets = await csiSecrets(spec.persistentVolume?.spec?.csi?.nodeExpandSecretRef, this.deps.client);
    await driver.call(NodeExpandVolume, {
      ...{ volumeId: data.volumeHandle, volumePath: targetIn(path, data.volumeMode === 'Block'), capacityRange: { requiredBytes } },
      ...{ stagingTargetPath: this.#stagingTarget(data), volumeCapability: capability, secrets },
    });
    return true;
  }

  /** The usage reported by the driver; undefined if it does not report it. */
  async usage(request: Pick<SetUpRequest, 'path'>): Promise<FileSystemUsage | undefined> {
    const data = await readVolumeData(request.path);
    if (data === undefined) return undefined;
    const driver = this.deps.drivers.get(data.driverName);
    using deadline = timeoutSignal(this.deps.clock, USAGE_TIMEOUT_MS);
    if (!(await raceAbort(driver.hasNodeCapability('GET_VOLUME_STATS'), deadline.signal))) return undefined;
    const volumePath = targetIn(request.path, data.volumeMode === 'Block');
    const volume = { volumeId: data.volumeHandle, volumePath, stagingTargetPath: this.#stagingTarget(data) };
    return await csiUsage(driver, volume, deadline.signal);
  }

  /** Unstages volumes that a crash left without a publishing pod. */
  async unstageUnused(): Promise<void> {
    const problems: string[] = [];
    const unstage = (data: VolumeData) =>
      this.#locks.run(stagingName(data), () => this.#unstageIfUnused(data)).catch((error: unknown) => void problems.push(messageOf(error)));
    await Promise.all((await stagedVolumes(this.deps.directories)).map(unstage));
    // Only empty ones: a volume may be staged there soon.
    for (const directory of await emptyStagingDirectories(this.deps.directories))
      await removeEmpty(join(directory, 'globalmount'), directory).catch((error: unknown) => void problems.push(messageOf(error)));
    if (problems.length > 0) throw new Error(problems.join('; '));
  }

  #stagingTarget({ staged, driverName, volumeHandle }: VolumeData): string {
    return staged === true ? join(stagingDirectory(this.deps.directories, driverName, volumeHandle), 'globalmount') : '';
  }

  async #stage({ data, driver, capability, attributes, publishContext, request }: CsiVolume): Promise<void> {
    const stagingTargetPath = this.#stagingTarget(data);
    await writeVolumeData(join(stagingTargetPath, '..'), data);
    await mkdir(stagingTargetPath, { recursive: true, mode: 0o750 });
    const secrets = await csiSecrets(request.spec.persistentVolume?.spec?.csi?.nodeStageSecretRef, this.deps.client);
    try {
      await driver.call(NodeStageVolume, {
        ...{ volumeId: data.volumeHandle, publishContext, stagingTargetPath },
        ...{ volumeCapability: capability, secrets, volumeContext: attributes },
      });
    } catch (error) {
      throw new VolumeError(data.volumeMode === 'Block' ? 'MapVolume.SetUpDevice' : 'MountVolume.MountDevice', data.specVolID, error);
    }
  }

  async #publish(volume: CsiVolume, targetPath: string, readonly: boolean): Promise<void> {
    const { data, driver, capability, attributes, publishContext, options, request } = volume;
    const { spec, pod } = request;
    const reference = spec.persistentVolume?.spec?.csi?.nodePublishSecretRef ?? inlineSecret(spec, pod);
    const info = await podVolumeInfo({ pod, options, isEphemeral: data.volumeLifecycleMode === 'Ephemeral' }, this.deps.tokens);
    const secrets = { ...(await csiSecrets(reference, this.deps.client)), ...info.secrets };
    await mkdir(join(targetPath, '..'), { recursive: true, mode: 0o750 });
    await driver.call(NodePublishVolume, {
      ...{ volumeId: data.volumeHandle, publishContext, stagingTargetPath: this.#stagingTarget(data), targetPath },
      ...{ volumeCapability: capability, readonly, secrets, volumeContext: { ...attributes, ...info.volumeContext } },
    });
  }

  /** By the driver's fsGroupPolicy: never, always, or for ReadWriteOnce volumes with a known file system. */
  async #setOwnership({ options, driver, request }: CsiVolume, target: string, readOnly: boolean): Promise<void> {
    const ownership = readOnly ? undefined : podOwnership(request.pod, false);
    if (ownership === undefined || options.fsGroupPolicy === 'None' || (await driver.hasNodeCapability('VOLUME_MOUNT_GROUP'))) return;
    if (options.fsGroupPolicy !== 'File') {
      const { csi, accessModes = [] } = request.spec.persistentVolume?.spec ?? {};
      const fsType = csi?.fsType ?? request.spec.volume.csi?.fsType ?? '';
      const isExclusive = accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
      if (fsType === '' || !isExclusive) return;
    }
    await setVolumeOwnership(target, ownership);
  }

  /** `leaving`: a path that is no longer published, although its volume data still exists. */
  async #unstageIfUnused(data: VolumeData, leaving?: string): Promise<void> {
    if (await isPublished(data, this.deps.directories, leaving)) return;
    const directory = stagingDirectory(this.deps.directories, data.driverName, data.volumeHandle);
    const stagingTargetPath = join(directory, 'globalmount');
    await this.deps.drivers.get(data.driverName).call(NodeUnstageVolume, { volumeId: data.volumeHandle, stagingTargetPath });
    const [left] = await this.deps.mounter.mountsBelow(stagingTargetPath);
    if (left !== undefined) throw new Error(`driver ${data.driverName} left ${left.path} mounted`);
    await rm(stagingTargetPath, { recursive: true, force: true });
    await removeVolumeData(directory);
    await removeEmpty(directory);
  }
}

/** The publish target for one pod: a directory, or a device file. */
function targetIn(path: string, isBlock: boolean): string {
  return join(path, isBlock ? 'device' : 'mount');
}

function driverNameOf({ persistentVolume, volume }: VolumeSpec): string {
  return persistentVolume?.spec?.csi?.driver ?? volume.csi?.driver ?? '';
}

function stagingName({ driverName, volumeHandle }: VolumeData): string {
  return `${driverName}^${volumeHandle}`;
}

function inlineSecret({ volume }: VolumeSpec, { metadata }: core.Pod): core.SecretReference | undefined {
  const { name } = volume.csi?.nodePublishSecretRef ?? {};
  return name === undefined ? undefined : { name, ...(metadata.namespace && { namespace: metadata.namespace }) };
}

/** Removes directories of volumes that never reached the driver. */
async function removeEmpty(...directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}
