import type { Mounter } from '../mount/mounter.ts';
import type { VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { mountVolume, unmountVolume } from './bind-volume.ts';

/** An NFS volume; needs mount.nfs on the machine. */
export function nfsPlugin({ mounter }: { readonly mounter: Mounter }): VolumePlugin {
  const sourceOf = ({ volume, persistentVolume }: VolumeSpec) => persistentVolume?.spec?.nfs ?? volume.nfs;
  return {
    name: 'kubernetes.io/nfs',
    supports: (spec) => sourceOf(spec) !== undefined,
    setUp: async ({ spec, path }) => {
      const { server = '', path: exported = '', readOnly = false } = sourceOf(spec) ?? {};
      const mustBeReadOnly = readOnly || spec.readOnly;
      const options = [...(spec.persistentVolume?.spec?.mountOptions ?? []), ...(mustBeReadOnly ? ['ro'] : [])];
      const host = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server;
      await mountVolume({ source: `${host}:${exported}`, target: path, fsType: 'nfs', options }, mounter);
      return { hostPath: path, mustBeReadOnly };
    },
    tearDown: ({ path }) => unmountVolume(path, mounter),
  };
}
