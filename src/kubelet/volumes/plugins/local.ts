import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Quantity } from '#machinery';
import { directoryBackend } from '../../local-storage/local-backend.ts';
import { VolumeInUseError } from '../../local-storage/loop-image.ts';
import { BACKING, isWaitingForNode } from '../../local-storage/reconcile.ts';
import { setVolumeOwnership } from '../files/volume-ownership.ts';
import type { Mounter } from '../mount/mounter.ts';
import type { VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { mountDevice, mountVolume, unmountVolume } from './bind-volume.ts';
import { podOwnership } from './pod-ownership.ts';

/** A local PersistentVolume: a directory or block device of this machine. */
export function localPlugin({ mounter }: { readonly mounter: Mounter }): VolumePlugin {
  return {
    name: 'kubernetes.io/local-volume',
    supports: ({ persistentVolume }) => persistentVolume?.spec?.local !== undefined,
    setUp: async ({ spec, pod, path }) => {
      const { local, volumeMode } = spec.persistentVolume?.spec ?? {};
      await growBeforeMount(spec, mounter);
      const source = local?.path ?? '';
      const stats = await stat(source).catch(() => undefined);
      if (stats === undefined) throw new Error(`path "${source}" does not exist`);
      if (volumeMode === 'Block') {
        if (!stats.isBlockDevice()) throw new Error(`path "${source}" is not a block device`);
        return { devicePath: await realpath(source), mustBeReadOnly: spec.readOnly };
      }
      const options = [...(spec.persistentVolume?.spec?.mountOptions ?? []), ...(spec.readOnly ? ['ro'] : [])];
      if (stats.isBlockDevice()) await mountDevice({ device: source, target: path, fsType: local?.fsType || 'ext4', options }, mounter);
      else await mountVolume({ source, target: path, options }, mounter);
      const ownership = spec.readOnly ? undefined : podOwnership(pod, false);
      if (ownership !== undefined) await setVolumeOwnership(path, ownership);
      return { hostPath: path, mustBeReadOnly: spec.readOnly, seLinuxRelabel: !spec.readOnly };
    },
    tearDown: ({ path }) => unmountVolume(path, mounter),
  };
}

/** An image that could not grow while pods used it grows now, or stays usable as it is. */
async function growBeforeMount({ persistentVolume, claim, readOnly }: VolumeSpec, mounter: Mounter): Promise<void> {
  const { local, capacity } = persistentVolume?.spec ?? {};
  if (persistentVolume?.metadata.annotations?.[BACKING] !== 'loop' || readOnly || claim === undefined) return;
  if (!isWaitingForNode(claim, capacity?.storage)) return;
  // The volume's path is a directory within the mounted image.
  const mountPoint = dirname(local?.path ?? '');
  const request = { name: basename(mountPoint), backing: 'loop', bytes: Quantity.parse(capacity?.storage ?? '0').value() } as const;
  await directoryBackend(dirname(mountPoint), mounter)
    .expand(request)
    .catch((error: unknown) => {
      if (!(error instanceof VolumeInUseError)) throw error;
    });
}
