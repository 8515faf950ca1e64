import { join } from 'node:path';

/**
 * The kubelet's directory layout for pods: upstream's, so that tools find it. Volume names are DNS
 * labels and uids are validated, so no path can leave the root directory.
 */
export class PodDirectories {
  constructor(readonly root: string) {}

  get pods(): string {
    return join(this.root, 'pods');
  }

  get plugins(): string {
    return join(this.root, 'plugins');
  }

  pod(uid: string): string {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(uid)) throw new Error(`not a pod's uid: "${uid}"`);
    return join(this.pods, uid);
  }

  volumes(uid: string): string {
    return join(this.pod(uid), 'volumes');
  }

  volume(uid: string, plugin: string, name: string): string {
    return join(this.volumes(uid), escapePlugin(plugin), name);
  }

  blockVolume(uid: string, plugin: string, name: string): string {
    return join(this.pod(uid), 'volumeDevices', escapePlugin(plugin), name);
  }

  subPaths(uid: string): string {
    return join(this.pod(uid), 'volume-subpaths');
  }
}

/** Upstream's escaping of plugin names in paths: `kubernetes.io~secret`. */
function escapePlugin(plugin: string): string {
  return plugin.replace('/', '~');
}
