import { realpath, stat } from 'node:fs/promises';
import { setVolumeOwnership } from '../files/volume-ownership.ts';
import type { Mounter } from '../mount/mounter.ts';
import type { VolumePlugin } from '../volume-plugin.ts';
import { mountDevice, mountVolume, unmountVolume } from './bind-volume.ts';
import { podOwnership } from './pod-ownership.ts';

/** A local PersistentVolume: a directory or block device of this machine. */
export function localPlugin({ mounter }: { readonly mounter: Mounter }): VolumePlugin {
  return {
    name: 'kubernetes.io/local-volume',
    supports: ({ persistentVolume }) => persistentVolume?.spec?.local !== undefined,
    setUp: async ({ spec, pod, path }) => {
      const { local, volumeMode } = spec.persistentVolume?.spec ?? {};
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
