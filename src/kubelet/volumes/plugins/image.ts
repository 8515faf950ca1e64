import type { VolumePlugin } from '../volume-plugin.ts';
import type { PluginDeps } from './plugin-deps.ts';

/** An image volume: mounted by the runtime for each container, or by the kubelet where the runtime cannot. */
export function imagePlugin({ imageMounts }: Pick<PluginDeps, 'imageMounts'>): VolumePlugin {
  return {
    name: 'kubernetes.io/image',
    supports: ({ volume }) => volume.image !== undefined,
    setUp: async () => ({ mustBeReadOnly: true }),
    tearDown: async ({ path }) => imageMounts?.unmount(path),
  };
}
