import type { VolumePlugin } from '../volume-plugin.ts';

/** Disabled upstream too: it ran git as root on a pod-controlled repository. */
export function gitRepoPlugin(): VolumePlugin {
  return {
    name: 'kubernetes.io/git-repo',
    supports: ({ volume }) => volume.gitRepo !== undefined,
    setUp: async () => {
      throw new Error(
        'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`',
      );
    },
    tearDown: async () => {},
  };
}
