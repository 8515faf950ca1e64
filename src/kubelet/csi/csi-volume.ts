import { core, storage } from '#api';
import type { Client } from '#client';
import { isStatusReason } from '#machinery';
import { contextOption, type SeLinux } from '../volumes/se-linux.ts';
import { messageOf, type SetUpRequest, VolumeError } from '../volumes/volume-plugin.ts';
import type { CsiDriver, CsiDrivers } from './csi-drivers.ts';
import type { VolumeCapability } from './messages.ts';
import { isBlockVolume, volumeCapability } from './volume-capability.ts';
import { attachmentName, sha256, type VolumeData } from './volume-data.ts';

export const CSI_PLUGIN = 'kubernetes.io/csi';

/** A pod's volume in CSI terms. */
export interface CsiVolume {
  readonly data: VolumeData;
  readonly driver: CsiDriver;
  readonly options: storage.CSIDriverSpec;
  readonly capability: VolumeCapability;
  readonly attributes: Readonly<Record<string, string>>;
  readonly publishContext: Readonly<Record<string, string>>;
  readonly request: SetUpRequest;
}

export interface CsiVolumeDeps {
  readonly client: Client;
  readonly drivers: CsiDrivers;
  readonly nodeName: string;
  readonly seLinux: SeLinux;
}

/** The driver's CSIDriver object; defaults when there is none. */
export async function driverOptions(driverName: string, client: Client): Promise<storage.CSIDriverSpec> {
  try {
    return (await client.of(storage.CSIDriver).get({ name: driverName })).spec;
  } catch (error) {
    if (isStatusReason(error, 'NotFound')) return {};
    throw error;
  }
}

/** Rejects while the driver is not registered, does not support the volume, or the volume is not attached. */
export async function resolveCsiVolume(request: SetUpRequest, options: storage.CSIDriverSpec, deps: CsiVolumeDeps): Promise<CsiVolume> {
  const { spec } = request;
  const source = spec.persistentVolume?.spec?.csi;
  const inline = spec.volume.csi;
  const driver = driverOf(source?.driver ?? inline?.driver ?? '', deps.drivers);
  const data = { ...(await volumeData(request, driver, deps.nodeName)), ...(options.attachRequired === false && { attachable: false }) };
  checkMode(data, options);
  const isAttached = data.volumeLifecycleMode === 'Persistent' && options.attachRequired !== false;
  if (isAttached) await checkAttached(attachedNameOf(data), deps);
  return {
    ...{ data, driver, options, request },
    capability: await capabilityOf(request, driver, options.seLinuxMount === true ? await deps.seLinux.mountLabel(request) : undefined),
    attributes: source?.volumeAttributes ?? inline?.volumeAttributes ?? {},
    publishContext: isAttached ? await publishContext(data, deps.client) : {},
  };
}

function driverOf(name: string, drivers: CsiDrivers): CsiDriver {
  try {
    return drivers.get(name);
  } catch (error) {
    throw new Error(`${CSI_PLUGIN}: mounter.SetUpAt failed to get CSI client: ${messageOf(error)}`, { cause: error });
  }
}

async function volumeData({ spec, pod }: SetUpRequest, driver: CsiDriver, nodeName: string): Promise<VolumeData> {
  const source = spec.persistentVolume?.spec?.csi;
  const volumeHandle = source?.volumeHandle ?? `csi-${sha256(`${pod.metadata.uid}${spec.name}`)}`;
  return {
    ...{ driverName: driver.name, volumeHandle, specVolID: spec.name, nodeName },
    attachmentID: source === undefined ? '' : attachmentName(volumeHandle, driver.name, nodeName),
    volumeLifecycleMode: source === undefined ? 'Ephemeral' : 'Persistent',
    staged: source !== undefined && (await driver.hasNodeCapability('STAGE_UNSTAGE_VOLUME')),
    ...(isBlockVolume(spec.persistentVolume) && { volumeMode: 'Block' as const }),
  };
}

function checkMode({ driverName, volumeLifecycleMode: mode }: VolumeData, options: storage.CSIDriverSpec): void {
  const modes = options.volumeLifecycleModes ?? ['Persistent'];
  if (modes.includes(mode)) return;
  const supported = modes.map((name) => `"${name}"`).join(' ');
  throw new Error(
    `${CSI_PLUGIN}: mounter.SetupAt failed: volume mode "${mode}" not supported by driver ${driverName} (only supports [${supported}])`,
  );
}

async function capabilityOf({ spec, pod }: SetUpRequest, driver: CsiDriver, label: string | undefined): Promise<VolumeCapability> {
  const { csi, accessModes = ['ReadWriteOnce'], mountOptions = [] } = spec.persistentVolume?.spec ?? {};
  const setsGroup = await driver.hasNodeCapability('VOLUME_MOUNT_GROUP');
  return volumeCapability({
    // As upstream: nodes are told of the first mode only.
    ...{
      accessModes: accessModes.slice(0, 1),
      mountOptions: [...mountOptions, ...contextOption(label)],
      isBlock: isBlockVolume(spec.persistentVolume),
    },
    fsType: csi?.fsType ?? spec.volume.csi?.fsType ?? '',
    volumeMountGroup: setsGroup ? pod.spec?.securityContext?.fsGroup?.toString() : undefined,
    knowsSingleNodeModes: await driver.hasNodeCapability('SINGLE_NODE_MULTI_WRITER'),
  });
}

/** The volume's name in node.status. */
export function attachedNameOf({ driverName, volumeHandle }: Pick<VolumeData, 'driverName' | 'volumeHandle'>): string {
  return `${CSI_PLUGIN}/${driverName}^${volumeHandle}`;
}

/** The volume is not attached yet. Expected for some time after a pod is bound, so that no event is recorded. */
export class NotAttachedError extends Error {
  override readonly name = 'NotAttachedError';
}

/**
 * Rejects until node.status.volumesAttached lists the volume. The caller has added it to volumesInUse before: the attach-detach controller
 * removes a volume from volumesAttached before it detaches it, and that write conflicts with a later change of volumesInUse.
 */
export async function checkAttached(attachedName: string, { client, nodeName }: Pick<CsiVolumeDeps, 'client' | 'nodeName'>): Promise<void> {
  const { status } = await client.of(core.Node).get({ name: nodeName });
  if (status?.volumesAttached?.some(({ name }) => name === attachedName) === true) return;
  throw new NotAttachedError('volume not attached according to node status');
}

/** The publish context from the VolumeAttachment. Rejects until it is attached; the caller retries. */
async function publishContext(data: VolumeData, client: Client): Promise<Readonly<Record<string, string>>> {
  const { attachmentID, specVolID, volumeMode } = data;
  const step = `${volumeMode === 'Block' ? 'MapVolume' : 'MountVolume'}.WaitForAttach`;
  const attachment = await client
    .of(storage.VolumeAttachment)
    .get({ name: attachmentID })
    .catch((error: unknown) => {
      throw new VolumeError(step, specVolID, error);
    });
  // A volume that will be detached must not be mounted.
  if (attachment.metadata.deletionTimestamp !== undefined)
    throw new VolumeError(step, specVolID, new Error('volume attachment is being deleted'));
  if (attachment.status?.attached === true) return attachment.status.attachmentMetadata ?? {};
  const { message = `volume attachment ${attachmentID} is not attached yet` } = attachment.status?.attachError ?? {};
  throw new VolumeError(step, specVolID, new Error(message));
}
