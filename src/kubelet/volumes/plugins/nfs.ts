import { access } from 'node:fs/promises';
import type { Mounter, MountRequest } from '../mount/mounter.ts';
import { messageOf, type VolumePlugin, type VolumeSpec } from '../volume-plugin.ts';
import { remoteUsage } from '../volume-usage.ts';
import { mountVolume, unmountVolume } from './bind-volume.ts';

export interface NfsPluginDeps {
  readonly mounter: Mounter;
  /** The helper program of mount(8) for this type. Default: mount's own search path. */
  readonly helper?: string;
}

/** An NFS volume; needs mount.nfs on the machine. */
export function nfsPlugin({ mounter, helper = '/sbin/mount.nfs' }: NfsPluginDeps): VolumePlugin {
  const sourceOf = ({ volume, persistentVolume }: VolumeSpec) => persistentVolume?.spec?.nfs ?? volume.nfs;
  return {
    name: 'kubernetes.io/nfs',
    supports: (spec) => sourceOf(spec) !== undefined,
    setUp: async ({ spec, path }) => {
      const { server = '', path: exported = '', readOnly = false } = sourceOf(spec) ?? {};
      const mustBeReadOnly = readOnly || spec.readOnly;
      const options = [...(spec.persistentVolume?.spec?.mountOptions ?? []), ...(mustBeReadOnly ? ['ro'] : [])];
      const host = server.includes(':') && !server.startsWith('[') ? `[${server}]` : server;
      await mountNfs({ source: `${host}:${exported}`, target: path, fsType: 'nfs', options }, mounter, helper);
      return { hostPath: path, mustBeReadOnly };
    },
    tearDown: ({ path }) => unmountVolume(path, mounter),
    usage: ({ path }) => remoteUsage(path),
  };
}

async function mountNfs(request: MountRequest, mounter: Mounter, helper: string): Promise<void> {
  try {
    await mountVolume(request, mounter);
  } catch (error) {
    // mount(8) itself only reports a bad option.
    await access(helper).catch(() => {
      throw new Error(`NFS volumes need the program mount.nfs on the node (package nfs-common): ${messageOf(error)}`, { cause: error });
    });
    throw error;
  }
}
