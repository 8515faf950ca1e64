import { lstat, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { core } from '#api';
import type { ImageMounts } from '../containerd/image-mounts.ts';
import type { Device, Mount } from '../cri/runtime.ts';
import { StartFailure } from '../pods/start-failure.ts';
import { bindSubPath, makeSubPath } from './files/sub-path.ts';
import type { Mounter } from './mount/mounter.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { ContainerVolumes, ContainerVolumesRequest } from './pod-volumes.ts';
import type { MountedVolume, VolumeSpec } from './volume-plugin.ts';

export interface PreparedVolume {
  readonly spec: VolumeSpec;
  readonly mounted: MountedVolume;
}

export interface ContainerVolumesDeps {
  readonly directories: PodDirectories;
  readonly mounter: Mounter;
  /** Absent: the runtime mounts images itself. */
  readonly imageMounts?: ImageMounts | undefined;
  volume(name: string): PreparedVolume | undefined;
}

type Propagation = NonNullable<Mount['propagation']>;

const PROPAGATIONS = new Map<string, Propagation>([
  ['', 'private'],
  ['None', 'private'],
  ['HostToContainer', 'hostToContainer'],
  ['Bidirectional', 'bidirectional'],
]);

/** The mounts and devices of one container. Throws StartFailures with upstream's texts. */
export async function containerVolumes(request: ContainerVolumesRequest, deps: ContainerVolumesDeps): Promise<ContainerVolumes> {
  const { volumeMounts = [], volumeDevices = [] } = request.container;
  const mounts: Mount[] = [];
  for (const [index, mount] of volumeMounts.entries()) mounts.push(await containerMount({ mount, index }, request, deps));
  return { mounts, devices: volumeDevices.map((device) => containerDevice(device, request, deps)) };
}

interface IndexedMount {
  readonly mount: core.VolumeMount;
  readonly index: number;
}

async function containerMount(indexed: IndexedMount, request: ContainerVolumesRequest, deps: ContainerVolumesDeps): Promise<Mount> {
  const { mount } = indexed;
  const { spec, mounted } = preparedVolume(mount.name, request, deps);
  const subPath = subPathOf(mount, request.env);
  const base = {
    containerPath: isAbsolute(mount.mountPath) ? mount.mountPath : `/${mount.mountPath}`,
    readonly: mount.readOnly === true || mounted.mustBeReadOnly,
    recursiveReadOnly: isRecursivelyReadOnly(mount, request.supportsRecursiveReadOnly),
    selinuxRelabel: mounted.seLinuxRelabel === true,
    propagation: propagationOf(mount),
  };
  const { image } = spec.volume;
  if (image !== undefined && deps.imageMounts === undefined) {
    const { reference = '' } = image;
    return { ...base, readonly: true, hostPath: '', image: { image: reference }, ...(subPath && { imageSubPath: subPath }) };
  }
  const hostPath = image === undefined ? mounted.hostPath : await imageDirectory(image, mount.name, request, deps);
  if (hostPath === undefined) throw configError(`volume "${mount.name}" has volumeMode Block, but is specified in volumeMounts`);
  const source = subPath === '' ? hostPath : await subPathSource({ ...indexed, hostPath, subPath }, request, deps);
  // For host paths, the host's mount propagation applies.
  const isManaged = source.startsWith(`${deps.directories.pods}/`);
  if (base.propagation !== 'private' && isManaged) await deps.mounter.makeShared(source);
  return { ...base, hostPath: source };
}

/** Where the image is mounted, which was pulled before. */
async function imageDirectory(
  { reference = '' }: core.ImageVolumeSource,
  volumeName: string,
  { pod }: ContainerVolumesRequest,
  { directories, imageMounts }: ContainerVolumesDeps,
): Promise<string> {
  const directory = directories.volume(pod.metadata.uid ?? '', 'kubernetes.io/image', volumeName);
  try {
    await imageMounts?.mount(reference, directory);
  } catch (error) {
    throw configError(`failed to mount image "${reference}" of volume "${volumeName}": ${(error as Error).message}`, error);
  }
  return directory;
}

function preparedVolume(name: string, { container }: ContainerVolumesRequest, deps: ContainerVolumesDeps): PreparedVolume {
  const volume = deps.volume(name);
  if (volume === undefined) throw configError(`cannot find volume "${name}" to mount into container "${container.name}"`);
  return volume;
}

function propagationOf({ mountPropagation = '' }: core.VolumeMount): Propagation {
  const propagation = PROPAGATIONS.get(mountPropagation);
  if (propagation === undefined) throw configError(`invalid MountPropagation mode: "${mountPropagation}"`);
  return propagation;
}

function isRecursivelyReadOnly(mount: core.VolumeMount, isSupported: boolean): boolean {
  const { recursiveReadOnly: mode = 'Disabled', name, readOnly, mountPropagation } = mount;
  if (mode === 'Disabled') return false;
  const problem = (text: string) => {
    const message = `volume "${name}" requested recursive read-only mode, but it is ${text}`;
    return configError(`failed to resolve recursive read-only mode: ${message}`);
  };
  if (readOnly !== true) throw problem('not read-only');
  if (mountPropagation && mountPropagation !== 'None') throw problem(`not compatible with propagation "${mountPropagation}"`);
  if (mode === 'Enabled' && !isSupported) throw problem('not supported by the runtime');
  return isSupported;
}

function subPathOf({ subPath = '', subPathExpr = '' }: core.VolumeMount, env: ContainerVolumesRequest['env']): string {
  const path = subPathExpr === '' ? subPath : expandSubPath(subPathExpr, new Map(env.map(({ name, value }) => [name, value])));
  if (isAbsolute(path)) throw configError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..')) throw configError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

function expandSubPath(text: string, env: ReadonlyMap<string, string>): string {
  const missing = new Set<string>();
  const path = text.replace(/\$(\$|\(([^()]*)\))/g, (_, reference: string, name: string | undefined) => {
    if (reference === '$' || name === undefined) return '$';
    const value = env.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  });
  if (missing.size > 0) throw configError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}

interface SubPathMount extends IndexedMount {
  readonly hostPath: string;
  readonly subPath: string;
}

// Details of the error could reveal the host's files to a user.
async function subPathSource(
  { mount, index, hostPath: volumePath, subPath }: SubPathMount,
  { pod, container }: ContainerVolumesRequest,
  { directories, mounter }: ContainerVolumesDeps,
): Promise<string> {
  const where = `for volumeMount "${mount.name}" of container "${container.name}"`;
  try {
    if (!(await exists(join(volumePath, subPath)))) await makeSubPath(volumePath, subPath);
  } catch (error) {
    throw configError(`failed to create subPath directory ${where}`, error);
  }
  const at = { podUid: pod.metadata.uid ?? '', volumeName: mount.name, containerName: container.name, mountIndex: index };
  try {
    return await bindSubPath({ ...at, volumePath, subPath }, directories, mounter);
  } catch (error) {
    throw configError(`failed to prepare subPath ${where}`, error);
  }
}

/** Includes dangling symlinks: no directory may be created in their place. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A path through a file: nothing can be created, and preparing it fails, as upstream.
    if (code === 'ENOTDIR') return true;
    if (code !== 'ENOENT') throw error;
    return (await lstat(path).catch(() => undefined)) !== undefined;
  }
}

function containerDevice(device: core.VolumeDevice, request: ContainerVolumesRequest, deps: ContainerVolumesDeps): Device {
  const { spec, mounted } = preparedVolume(device.name, request, deps);
  const { devicePath } = mounted;
  if (devicePath === undefined) throw configError(`volume "${device.name}" has volumeMode Filesystem, but is specified in volumeDevices`);
  return { containerPath: device.devicePath, hostPath: devicePath, permissions: spec.readOnly ? 'r' : 'mrw' };
}

function configError(message: string, cause?: unknown): StartFailure {
  const failure = new StartFailure('CreateContainerConfigError', message);
  failure.cause = cause;
  return failure;
}
