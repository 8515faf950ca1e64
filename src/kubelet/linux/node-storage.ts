import { join } from 'node:path';
import { stopAll } from '#base';
import { openImageMounts } from '../containerd/image-mounts.ts';
import { CsiControllers } from '../csi/controller/csi-controllers.ts';
import { CsiDrivers } from '../csi/csi-drivers.ts';
import { csiPluginHandler } from '../csi/csi-node.ts';
import { CsiNodeObject } from '../csi/csi-node-object.ts';
import { type PluginHandler, startPluginRegistry } from '../csi/plugin-registry.ts';
import { VolumeLimits } from '../csi/volume-limits.ts';
import type { NodePartsContext } from '../node/node-parts.ts';
import { hostMounter } from '../volumes/mount/mounter.ts';
import { NodeVolumes } from '../volumes/node-volumes.ts';
import { PodDirectories } from '../volumes/pod-directories.ts';
import type { LinuxPartsDeps } from './linux-parts.ts';

export interface NodeStorage extends AsyncDisposable {
  readonly volumes: NodeVolumes;
}

export interface NodeStorageDeps extends LinuxPartsDeps {
  /** Handlers of other plugin types. */
  readonly pluginHandlers: ReadonlyMap<string, PluginHandler>;
}

/** The volumes of this machine's pods, and the storage drivers on it. */
export async function openNodeStorage(rootDir: string, context: NodePartsContext, deps: NodeStorageDeps): Promise<NodeStorage> {
  const { client, recorder, config, signal } = context;
  const { nodeName } = config;
  const drivers = new CsiDrivers();
  const directories = new PodDirectories(rootDir);
  const controllers = deps.startDriverController && new CsiControllers(deps.startDriverController, deps.logger);
  const csiNode = new CsiNodeObject({ client, nodeName });
  const limits = new VolumeLimits({ ...deps, client, drivers, csiNode });
  const own = { ...deps, client, recorder, directories, drivers, nodeName, controllers, csiNode, limits };
  const mounter = hostMounter();
  const imageMounts = await openImageMounts({ ...deps, mounter });
  const volumes = new NodeVolumes({ ...own, mounter, imageMounts, allocatable: () => config.allocatable });
  const handlers = new Map([['CSIPlugin', csiPluginHandler(own)], ...deps.pluginHandlers]);
  const registry = startPluginRegistry({ directory: join(rootDir, 'plugins_registry'), handlers }, deps, signal);
  return {
    volumes,
    // Drivers stop before volumes, which cancels calls in progress: a driver that does not respond must not delay the shutdown.
    [Symbol.asyncDispose]: () =>
      stopAll([...(imageMounts ? [imageMounts] : []), volumes, drivers, limits, ...(controllers ? [controllers] : []), registry]),
  };
}
