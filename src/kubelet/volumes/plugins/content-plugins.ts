import type { VolumePlugin } from '../volume-plugin.ts';
import { ContentSources } from './content-sources.ts';
import { contentPlugin } from './content-volume.ts';
import type { PluginDeps } from './plugin-deps.ts';

const DEFAULT_MODE = 0o644;

/** Volumes with content from API objects. Only ConfigMaps are written to disk. */
export function contentPlugins(deps: PluginDeps): readonly VolumePlugin[] {
  const sources = new ContentSources(deps);
  return [
    contentPlugin(
      {
        name: 'kubernetes.io/configmap',
        onDisk: true,
        supports: ({ volume }) => volume.configMap !== undefined,
        collect: async ({ volume: { configMap = {} } }, pod) => ({
          payload: await sources.configMap(configMap, { pod, defaultMode: configMap.defaultMode ?? DEFAULT_MODE }),
        }),
      },
      deps,
    ),
    contentPlugin(
      {
        name: 'kubernetes.io/secret',
        onDisk: false,
        supports: ({ volume }) => volume.secret !== undefined,
        collect: async ({ volume: { secret = {} } }, pod) => ({
          payload: await sources.secret(
            { name: secret.secretName, items: secret.items, optional: secret.optional },
            { pod, defaultMode: secret.defaultMode ?? DEFAULT_MODE },
          ),
        }),
      },
      deps,
    ),
    contentPlugin(
      {
        name: 'kubernetes.io/downward-api',
        onDisk: false,
        supports: ({ volume }) => volume.downwardAPI !== undefined,
        collect: async ({ volume: { downwardAPI = {} } }, pod) => ({
          payload: sources.downwardApi(downwardAPI.items ?? [], { pod, defaultMode: downwardAPI.defaultMode ?? DEFAULT_MODE }),
        }),
      },
      deps,
    ),
    contentPlugin(
      {
        name: 'kubernetes.io/projected',
        onDisk: false,
        supports: ({ volume }) => volume.projected !== undefined,
        collect: ({ volume }, pod) => sources.projected(volume, pod),
      },
      deps,
    ),
  ];
}
