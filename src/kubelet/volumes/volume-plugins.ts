import { type CsiPluginDeps, csiPlugin } from '../csi/csi-plugin.ts';
import { contentPlugins } from './plugins/content-plugins.ts';
import { emptyDirPlugin } from './plugins/empty-dir.ts';
import { gitRepoPlugin } from './plugins/git-repo.ts';
import { hostPathPlugin } from './plugins/host-path.ts';
import { imagePlugin } from './plugins/image.ts';
import { type IscsiPluginDeps, iscsiPlugin } from './plugins/iscsi.ts';
import { localPlugin } from './plugins/local.ts';
import { nfsPlugin } from './plugins/nfs.ts';
import type { PluginDeps } from './plugins/plugin-deps.ts';
import type { VolumePlugin } from './volume-plugin.ts';

/** All volume plugins. The first that supports a volume handles it. */
export function volumePlugins(deps: PluginDeps & CsiPluginDeps & IscsiPluginDeps): readonly VolumePlugin[] {
  return [
    emptyDirPlugin(deps),
    ...contentPlugins(deps),
    hostPathPlugin(),
    localPlugin(deps),
    nfsPlugin(deps),
    iscsiPlugin(deps),
    csiPlugin(deps),
    imagePlugin(deps),
    gitRepoPlugin(),
  ];
}
