import type { FieldReport } from '../../../field-report.ts';
import { hasBacksteps, validateDescendingPath } from '../volume/local-path.validation.ts';
import type { ValidVolumes } from '../volume/volume.validation.ts';
import type { VolumeDevice, VolumeMount } from './container.ts';
import type { SecurityContext } from './security-context.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible'];

/** The context for validating a container's mounts and devices. */
export interface MountContext {
  readonly volumes: ValidVolumes;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly securityContext?: SecurityContext;
}

export function validateVolumeMounts(mounts: readonly VolumeMount[], at: FieldReport, context: MountContext): void {
  const paths = new Set<string>();
  const deviceNames = new Set(context.volumeDevices?.map(({ name }) => name));
  const devicePaths = new Set(context.volumeDevices?.map(({ devicePath }) => devicePath));
  for (let i = 0; i < mounts.length; i++) {
    const mount = mounts[i] as VolumeMount;
    const { name = '', mountPath = '' } = mount;
    const field = at.index(i);
    if (!name) field.child('name').required();
    if (!context.volumes.has(name)) field.child('name').notFound(name);
    if (!mountPath) field.child('mountPath').required();
    if (paths.has(mountPath)) field.child('mountPath').invalid(mountPath, 'must be unique');
    paths.add(mountPath);
    if (deviceNames.has(name)) field.child('name').invalid(name, 'must not already exist in volumeDevices');
    if (devicePaths.has(mountPath)) field.child('mountPath').invalid(mountPath, 'must not already exist as a path in volumeDevices');
    validateSubPaths(mount, at, field);
    validateMountModes(mount, at, context);
  }
}

// Upstream reports these without the mount's index.
function validateSubPaths({ subPath, subPathExpr }: VolumeMount, at: FieldReport, mount: FieldReport): void {
  if (subPath) validateDescendingPath(subPath, at.child('subPath'));
  if (!subPathExpr) return;
  if (subPath) mount.child('subPathExpr').invalid(subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  validateDescendingPath(subPathExpr, at.child('subPathExpr'));
}

function validateMountModes(mount: VolumeMount, at: FieldReport, { securityContext }: MountContext): void {
  const { mountPropagation, recursiveReadOnly } = mount;
  if (mountPropagation !== undefined) {
    const field = at.child('mountPropagation');
    field.oneOf(mountPropagation, PROPAGATIONS);
    if (mountPropagation === 'Bidirectional' && !securityContext?.privileged) {
      field.forbidden('Bidirectional mount propagation is available only to privileged containers');
    }
  }
  if (recursiveReadOnly !== undefined) validateRecursiveReadOnly(mount, at.child('recursiveReadOnly'));
}

function validateRecursiveReadOnly({ recursiveReadOnly, readOnly, mountPropagation }: VolumeMount, at: FieldReport): void {
  at.oneOf(recursiveReadOnly, RECURSIVE_READ_ONLY);
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') return;
  if (!readOnly) at.forbidden('may only be specified when readOnly is true');
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    at.forbidden('may only be specified when mountPropagation is None or not specified');
  }
}

export function validateVolumeDevices(devices: readonly VolumeDevice[], at: FieldReport, context: MountContext): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = context.volumeMounts ?? [];
  devices.forEach(({ name = '', devicePath = '' }, i) => {
    const field = at.index(i);
    validateDeviceVolume(name, field.child('name'), { names, volumes: context.volumes });
    if (!devicePath) field.child('devicePath').required();
    if (paths.has(devicePath)) field.child('devicePath').invalid(devicePath, 'must be unique');
    if (hasBacksteps(devicePath)) field.child('devicePath').invalid(devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.some((mount) => mount.name === name)) field.child('name').invalid(name, 'must not already exist in volumeMounts');
    if (mounts.some((mount) => mount.mountPath === devicePath)) {
      field.child('devicePath').invalid(devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name) names.add(name);
  });
}

interface DeviceContext {
  readonly names: ReadonlySet<string>;
  readonly volumes: ValidVolumes;
}

function validateDeviceVolume(name: string, at: FieldReport, { names, volumes }: DeviceContext): void {
  const volume = volumes.get(name);
  if (!name) at.required();
  if (names.has(name)) at.invalid(name, 'must be unique');
  if (!volume) at.notFound(name);
  else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
    at.invalid(name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
  }
}
