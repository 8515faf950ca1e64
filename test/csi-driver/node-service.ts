import { appendFile, mkdir, rm, rmdir, statfs, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GrpcError, grpcStatus, type MethodEntry, runProgram } from '#base';
import { csi, type Mounter } from '#kubelet';
import type { DriverState, StoredVolume } from './driver-state.ts';
import { attachLoopDevice, detachLoopDevice, loopDeviceOf } from './loop-devices.ts';
import type { servedMethods } from './service-method.ts';

export interface NodeServiceOptions {
  readonly nodeId: string;
  readonly topology?: Readonly<Record<string, string>> | undefined;
  readonly maxVolumes?: number | undefined;
  readonly stages?: boolean | undefined;
}

export interface NodeServiceDeps {
  readonly state: DriverState;
  readonly mounter: Mounter;
  readonly method: ReturnType<typeof servedMethods>;
}

/** Stages and publishes volumes: directories by bind mounts, images by loop devices. */
export function nodeService({ nodeId, topology, maxVolumes = 0, stages = true }: NodeServiceOptions, deps: NodeServiceDeps) {
  const { method, state } = deps;
  const node = new NodeVolumesOfDriver(deps, stages);
  const types = [...(stages ? (['STAGE_UNSTAGE_VOLUME'] as const) : []), 'EXPAND_VOLUME' as const, 'GET_VOLUME_STATS' as const];
  const info = { nodeId, maxVolumesPerNode: maxVolumes, ...(topology && { accessibleTopology: { segments: topology } }) };
  const methods: readonly MethodEntry[] = [
    method(csi.NodeGetCapabilities, async () => ({ capabilities: types.map((type) => ({ rpc: { type } })) })),
    method(csi.NodeGetInfo, async () => info),
    method(csi.NodeStageVolume, (request) => node.stage(request)),
    method(csi.NodeUnstageVolume, (request) => node.unstage(request)),
    method(csi.NodePublishVolume, (request) => node.publish(request)),
    method(csi.NodeUnpublishVolume, (request) => node.unpublish(request)),
    method(csi.NodeExpandVolume, async ({ volumeId, volumePath }) => {
      required({ volumeId, volumePath });
      await node.grow(volumeId);
      return { capacityBytes: state.get(volumeId).bytes };
    }),
    method(csi.NodeGetVolumeStats, async ({ volumeId, volumePath }) => {
      required({ volumeId, volumePath });
      return { usage: await node.usage(volumeId, volumePath) };
    }),
  ];
  return methods;
}

function required(members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === '') throw new GrpcError(grpcStatus.invalidArgument, `${name} is missing`);
  }
}

type Requests = {
  readonly stage: ReturnType<typeof csi.NodeStageVolume.request.decode>;
  readonly publish: ReturnType<typeof csi.NodePublishVolume.request.decode>;
};

class NodeVolumesOfDriver {
  constructor(
    private readonly deps: NodeServiceDeps,
    private readonly stages: boolean,
  ) {}

  async stage({ volumeId, stagingTargetPath, volumeCapability }: Requests['stage']): Promise<object> {
    required({ volumeId, stagingTargetPath, volumeCapability });
    const { state } = this.deps;
    const volume = state.get(volumeId);
    const content = state.content(volume);
    await this.#checkExclusive(volume, stagingTargetPath);
    if (volumeCapability?.block !== undefined) await attachLoopDevice(content);
    else if (volume.backing === 'image') await this.#mountImage(content, stagingTargetPath);
    else await this.#bind(content, stagingTargetPath);
    return {};
  }

  async unstage({ volumeId, stagingTargetPath }: { readonly volumeId: string; readonly stagingTargetPath: string }): Promise<object> {
    required({ volumeId, stagingTargetPath });
    const { state } = this.deps;
    await this.#unbind(stagingTargetPath);
    if (state.has(volumeId) && state.get(volumeId).backing === 'image') await detachLoopDevice(state.content(state.get(volumeId)));
    return {};
  }

  async publish(request: Requests['publish']): Promise<object> {
    const { volumeId, stagingTargetPath, targetPath, readonly, volumeContext, volumeCapability } = request;
    required({ volumeId, targetPath, volumeCapability });
    const { state, mounter } = this.deps;
    const options = readonly ? ['ro'] : [];
    if (volumeCapability?.block !== undefined) {
      await this.#publishDevice(volumeId, targetPath);
      return {};
    }
    const isInline = volumeContext['csi.storage.k8s.io/ephemeral'] === 'true';
    if (isInline) await mkdir(state.directory(volumeId), { recursive: true });
    else state.get(volumeId);
    const mount = (await mounter.mountsBelow(targetPath)).find(({ path }) => path === targetPath);
    if (mount !== undefined && mount.readOnly !== readonly)
      throw new GrpcError(grpcStatus.alreadyExists, `${volumeId} is published at ${targetPath}, and is read-only: ${mount.readOnly}`);
    if (!isInline && this.stages && !(await mounter.isMountPoint(stagingTargetPath)))
      throw new GrpcError(grpcStatus.failedPrecondition, `${volumeId} is not staged`);
    await this.#bind(isInline || !this.stages ? state.directory(volumeId) : stagingTargetPath, targetPath, options);
    return {};
  }

  /** A request that the cluster must never send: a single-node volume staged on two nodes. Recorded for the test. */
  async #checkExclusive({ id, exclusive }: StoredVolume, path: string): Promise<void> {
    const { state, mounter } = this.deps;
    const place = path.slice(path.indexOf('/plugins/kubernetes.io/csi/'));
    const others = (await mounter.mountsBelow('')).filter((mount) => mount.path !== path && mount.path.endsWith(place));
    if (!exclusive || others.length === 0) return;
    await appendFile(join(state.root, 'violations'), `${id} is staged at ${others[0]?.path} and was to be staged at ${path}\n`);
    throw new GrpcError(grpcStatus.failedPrecondition, `${id} is staged on another node`);
  }

  async #publishDevice(volumeId: string, target: string): Promise<void> {
    const { state, mounter } = this.deps;
    const device = await loopDeviceOf(state.content(state.get(volumeId)));
    if (device === undefined) throw new GrpcError(grpcStatus.failedPrecondition, `${volumeId} is not staged`);
    await mkdir(dirname(target), { recursive: true });
    if (await mounter.isMountPoint(target)) return;
    await writeFile(target, '');
    await mounter.mount({ source: device, target });
  }

  async unpublish({ volumeId, targetPath }: { readonly volumeId: string; readonly targetPath: string }): Promise<object> {
    required({ volumeId, targetPath });
    await this.#unbind(targetPath);
    // Nothing remains of a volume that was inline in a pod.
    if (!this.deps.state.has(volumeId)) await rm(this.deps.state.directory(volumeId), { recursive: true, force: true });
    return {};
  }

  async grow(volumeId: string): Promise<void> {
    const { state } = this.deps;
    const volume = state.get(volumeId);
    if (volume.backing !== 'image') return;
    const device = await loopDeviceOf(state.content(volume));
    if (device === undefined) throw new GrpcError(grpcStatus.failedPrecondition, `${volumeId} is not staged`);
    await runProgram('losetup', ['--set-capacity', device]);
    if (await hasFileSystem(device)) await runProgram('resize2fs', [device]);
  }

  async usage(volumeId: string, path: string) {
    const { state, mounter } = this.deps;
    if (!(await mounter.isMountPoint(path))) throw new GrpcError(grpcStatus.notFound, `${path} is not mounted`);
    const { backing, bytes } = state.has(volumeId) ? state.get(volumeId) : { backing: undefined, bytes: 0 };
    if (backing === 'image' && path.endsWith('/device')) return [{ unit: 'BYTES' as const, total: bytes }];
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
    return [
      { unit: 'BYTES' as const, total: blocks * bsize, available: bavail * bsize, used: (blocks - bfree) * bsize },
      { unit: 'INODES' as const, total: files, available: ffree, used: files - ffree },
    ];
  }

  async #mountImage(image: string, target: string): Promise<void> {
    if (!(await hasFileSystem(image))) await runProgram('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    await mkdir(target, { recursive: true });
    const { mounter } = this.deps;
    if (!(await mounter.isMountPoint(target))) await mounter.mount({ source: image, target, fsType: 'ext4', options: ['loop'] });
  }

  async #bind(source: string, target: string, options: readonly string[] = []): Promise<void> {
    const { mounter } = this.deps;
    await mkdir(target, { recursive: true });
    if (!(await mounter.isMountPoint(target))) await mounter.mount({ source, target, options });
  }

  async #unbind(target: string): Promise<void> {
    const { mounter } = this.deps;
    if (await mounter.isMountPoint(target)) await mounter.unmount(target);
    await rmdir(target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR') return unlink(target);
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Uses the kernel's own tools: a volume with a file system must never be formatted again. */
async function hasFileSystem(path: string): Promise<boolean> {
  return (await runProgram('blkid', ['--probe', path]).catch(() => '')).includes('TYPE=');
}
