import type { core } from '#api';
import type { PodHook } from '../pods/hooks/pod-hook.ts';
import type { PodVolumes } from './pod-volumes.ts';

export interface VolumesHookOptions {
  /** Whether the pod's runtime handler supports recursive read-only mounts. */
  supportsRecursiveReadOnly(pod: core.Pod): Promise<boolean>;
}

/** Mounts volumes before the sandbox is created, and unmounts them before the pod object is deleted. */
export function volumesHook(volumes: PodVolumes, options: VolumesHookOptions): PodHook {
  return {
    name: 'volumes',
    observe: (pod) => volumes.update(pod),
    prepare: ({ pod, signal }) => volumes.prepare(pod, signal),
    preStart: async ({ pod, container, envs }) => {
      const isRequested = (container.volumeMounts ?? []).some(({ recursiveReadOnly = 'Disabled' }) => recursiveReadOnly !== 'Disabled');
      const supportsRecursiveReadOnly = isRequested && (await options.supportsRecursiveReadOnly(pod));
      return volumes.volumesFor({ pod, container, env: envs, supportsRecursiveReadOnly });
    },
    postStop: ({ uid }) => volumes.tearDown(uid),
    cleanUp: ({ uid }) => volumes.cleanUp(uid),
    cleanUpOrphans: (liveUids) => volumes.removeOrphans(liveUids),
  };
}
