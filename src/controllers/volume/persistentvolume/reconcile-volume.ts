import type { core } from '#api';
import type { EventText } from '#client';
import { hasAnnotation, MIGRATED_TO, PROVISIONED_BY } from './binding.ts';
import { hasSameMode } from './match-volume.ts';
import { hasEnded } from './reconcile-claim.ts';
import { isRecyclable } from './recycler-pod.ts';

type Claim = core.PersistentVolumeClaim;
type Volume = core.PersistentVolume;

export type VolumeAction =
  | { readonly type: 'set-phase'; readonly phase: 'Available' | 'Bound' }
  /** The claim was deleted: the volume is reclaimed. */
  | { readonly type: 'release' }
  /** The claim is bound to another volume: this one becomes available. */
  | { readonly type: 'unbind' }
  /** The claim is not bound to the volume yet: sync it. */
  | { readonly type: 'tell-claim' }
  /** The volume can never be bound to the claim in its claimRef. */
  | { readonly type: 'report-mismatch'; readonly onVolume: EventText; readonly onClaim: EventText };

/** The cache may be stale: the claim counts as deleted only when the server confirms it. */
export function mustAskForClaim({ spec, status }: Volume, cached: Claim | undefined): boolean {
  const uid = spec?.claimRef?.uid;
  if (!uid) return false;
  if (cached !== undefined) return cached.metadata.uid !== uid;
  return status?.phase !== 'Released' && status?.phase !== 'Failed';
}

/** `claim`: the claim with the name in the volume's claimRef, if any. */
export function reconcileVolume(volume: Volume, claim: Claim | undefined): VolumeAction {
  const uid = volume.spec?.claimRef?.uid;
  if (!uid) return { type: 'set-phase', phase: 'Available' };
  if (claim === undefined || claim.metadata.uid !== uid) return { type: 'release' };
  const chosen = claim.spec?.volumeName;
  if (chosen === volume.metadata.name) return { type: 'set-phase', phase: 'Bound' };
  if (!chosen) return hasSameMode(volume, claim) ? { type: 'tell-claim' } : modesDiffer(volume, claim);
  const wasMadeForClaim = hasAnnotation(volume, PROVISIONED_BY) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
  return wasMadeForClaim ? { type: 'release' } : { type: 'unbind' };
}

function modesDiffer(volume: Volume, claim: Claim): VolumeAction {
  const event = (message: string): EventText => ({ type: 'Warning', reason: 'VolumeMismatch', message });
  const [volumeName, claimName] = [volume.metadata.name, claim.metadata.name];
  return {
    type: 'report-mismatch',
    onVolume: event(`Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claimName}" due to incompatible volumeMode.`),
    onClaim: event(`Cannot bind PersistentVolume "${volumeName}" to requested PersistentVolumeClaim due to incompatible volumeMode.`),
  };
}

export type ReclaimAction =
  /** It stays Released: an administrator or its driver does the rest. */
  | { readonly type: 'keep' }
  /** A pod deletes all files. */
  | { readonly type: 'recycle' }
  | { readonly type: 'report'; readonly event: EventText }
  | { readonly type: 'fail'; readonly event: EventText };

/** The action for a released volume. No in-tree plugin can delete storage. */
export function reclaim(volume: Volume, pods: readonly core.Pod[]): ReclaimAction {
  if (volume.metadata.annotations?.[MIGRATED_TO]) return { type: 'keep' };
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return { type: 'keep' };
    case 'Recycle':
      return recycle(volume, pods);
    case 'Delete': {
      const message = whyNotDeletable(volume);
      return message === undefined ? { type: 'keep' } : fail('VolumeFailedDelete', message);
    }
    default:
      return fail('VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
}

function recycle(volume: Volume, pods: readonly core.Pod[]): ReclaimAction {
  const users = pods.filter((pod) => !hasEnded(pod)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  if (users.length === 0)
    return isRecyclable(volume) ? { type: 'recycle' } : fail('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  const message = `Volume is used by pods: ${users.sort().join(',')}`;
  return { type: 'report', event: { type: 'Normal', reason: 'VolumeFailedRecycle', message } };
}

/** Undefined when an external provisioner deletes it. */
function whyNotDeletable({ metadata, spec }: Volume): string | undefined {
  const provisioner = metadata.annotations?.[PROVISIONED_BY];
  if (provisioner) return provisioner.startsWith('kubernetes.io/') ? `no volume plugin matched name: ${provisioner}` : undefined;
  if (spec?.csi) return undefined;
  const { path = '' } = spec?.hostPath ?? {};
  if (spec?.hostPath && !/\/tmp\/.+/.test(path)) return `host_path deleter only supports /tmp/.+ but received provided ${path}`;
  // Upstream has an NFS plugin, which cannot delete volumes.
  const problem = spec?.nfs ? 'no deletable volume plugin matched' : 'no volume plugin matched';
  return `error getting deleter volume plugin for volume "${metadata.name}": ${problem}`;
}

function fail(reason: string, message: string): ReclaimAction {
  return { type: 'fail', event: { type: 'Warning', reason, message } };
}
