import { createHash } from 'node:crypto';
import type { core, storage } from '#api';

/** A volume that has to be attached to a node for a pod. */
export interface AttachableVolume {
  readonly volume: core.PersistentVolume;
  readonly driver: string;
  readonly handle: string;
}

export type VolumeLookup = (name: string) => core.PersistentVolume | undefined;

export interface NodeVolumesState {
  readonly volumeNamed: VolumeLookup;
  readonly nodeName: string;
  /** Undefined when the node is deleted. */
  readonly node: core.Node | undefined;
  /** The volumes of the node's pods, by volume name. */
  readonly desired: ReadonlyMap<string, AttachableVolume>;
  readonly attachments: readonly storage.VolumeAttachment[];
  /** Other nodes with the volume attached, by volume name. */
  readonly otherNodes: ReadonlyMap<string, readonly string[]>;
  /** Since when each attachment is unneeded, by name. */
  readonly unneededSinceMs: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

export type AttachAction =
  | { readonly type: 'attach'; readonly attachment: storage.VolumeAttachment }
  | { readonly type: 'detach'; readonly name: string; readonly isForced: boolean }
  | { readonly type: 'multi-attach'; readonly volumeName: string; readonly nodes: readonly string[] };

/** How long a node that is not ready keeps an unneeded volume. */
export const FORCE_DETACH_MS = 360_000;
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** The actions that make a node's attachments match its pods. */
export function reconcileAttachments(state: NodeVolumesState): readonly AttachAction[] {
  const byVolume = new Map(state.attachments.map((attachment) => [attachment.spec.source?.persistentVolumeName ?? '', attachment]));
  const actions: AttachAction[] = [];
  for (const [name, attachable] of state.desired) {
    if (byVolume.has(name)) continue;
    const others = state.otherNodes.get(name) ?? [];
    if (others.length > 0 && isExclusive(attachable.volume)) actions.push({ type: 'multi-attach', volumeName: name, nodes: others });
    else actions.push({ type: 'attach', attachment: newAttachment(attachable, state.nodeName) });
  }
  for (const attachment of state.attachments) {
    const { name, deletionTimestamp } = attachment.metadata;
    if (deletionTimestamp !== undefined || state.desired.has(attachment.spec.source?.persistentVolumeName ?? '')) continue;
    const detach = mayDetach(attachment, state);
    if (detach !== undefined) actions.push({ type: 'detach', name, isForced: detach === 'forced' });
  }
  return actions;
}

/** Whether the volume can be attached to one node at a time only. */
export function isExclusive({ spec }: core.PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return !modes.includes('ReadWriteMany') && !modes.includes('ReadOnlyMany');
}

function mayDetach(attachment: storage.VolumeAttachment, state: NodeVolumesState): 'safe' | 'forced' | undefined {
  const { node, unneededSinceMs, nowMs, volumeNamed } = state;
  if (!OWN_NAME.test(attachment.metadata.name)) return undefined;
  const uniqueName = uniqueNameOf(attachment, volumeNamed(attachment.spec.source?.persistentVolumeName ?? ''));
  return detachMode(node, { uniqueName, unneededForMs: nowMs - (unneededSinceMs.get(attachment.metadata.name) ?? nowMs) });
}

export interface UnneededVolume {
  /** The name in the node's status, if it can be known. */
  readonly uniqueName: string | undefined;
  readonly unneededForMs: number;
}

/** Whether a volume that no pod of the node needs may be detached; 'forced' if the node may still use it. */
export function detachMode(node: core.Node | undefined, { uniqueName, unneededForMs }: UnneededVolume): 'safe' | 'forced' | undefined {
  if (node === undefined) return 'safe';
  if (uniqueName !== undefined && !(node.status?.volumesInUse ?? []).includes(uniqueName)) return 'safe';
  if (node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE)) return 'forced';
  const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return !isReady && unneededForMs >= FORCE_DETACH_MS ? 'forced' : undefined;
}

/** Attachments with other names belong to another attacher, which detaches them. */
const OWN_NAME = /^csi-[0-9a-f]{64}$/;
const HANDLE = 'sampan.dev/volume-handle';

/** The volume's name in node statuses; undefined for an attachment of another controller whose volume is deleted. */
function uniqueNameOf({ metadata, spec }: storage.VolumeAttachment, volume: core.PersistentVolume | undefined): string | undefined {
  const handle = metadata.annotations?.[HANDLE] ?? volume?.spec?.csi?.volumeHandle;
  return handle === undefined ? undefined : `kubernetes.io/csi/${spec.attacher}^${handle}`;
}

function newAttachment({ volume, driver, handle }: AttachableVolume, nodeName: string): storage.VolumeAttachment {
  const name = `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`;
  return {
    metadata: { name, annotations: { [HANDLE]: handle } },
    spec: { attacher: driver, nodeName, source: { persistentVolumeName: volume.metadata.name } },
    status: { attached: false },
  };
}

/** The desired volumesAttached of the node's status. */
export function attachedVolumes(
  attachments: readonly storage.VolumeAttachment[],
  volumeNamed: VolumeLookup,
): readonly core.AttachedVolume[] {
  return attachments
    .filter(({ metadata, status }) => status?.attached === true && metadata.deletionTimestamp === undefined)
    .flatMap((attachment) => uniqueNameOf(attachment, volumeNamed(attachment.spec.source?.persistentVolumeName ?? '')) ?? [])
    .sort()
    .map((name) => ({ name, devicePath: '' }));
}
