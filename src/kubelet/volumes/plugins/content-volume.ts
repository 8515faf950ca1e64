import type { core } from '#api';
import { type Payload, writeAtomically } from '../files/atomic-writer.ts';
import { setVolumeOwnership } from '../files/volume-ownership.ts';
import type { SetUpRequest, VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { memoryVolumeSize } from './memory-size.ts';
import type { PluginDeps } from './plugin-deps.ts';
import { podOwnership } from './pod-ownership.ts';
import { makeMemoryDirectory, makeScratchDirectory, removeScratchDirectory } from './scratch-directory.ts';

export interface Contents {
  readonly payload: Payload;
  readonly refreshAtMs?: number | undefined;
}

export interface ContentVolume {
  readonly name: string;
  /** Whether the files are written to disk instead of tmpfs. */
  readonly onDisk: boolean;
  supports(spec: VolumeSpec): boolean;
  collect(spec: VolumeSpec, pod: core.Pod): Promise<Contents>;
}

/** A volume with content from the API that is updated atomically. */
export function contentPlugin(volume: ContentVolume, deps: PluginDeps): VolumePlugin {
  const { mounter } = deps;
  const makeDirectory = ({ path, pod }: SetUpRequest) =>
    volume.onDisk
      ? makeScratchDirectory(path)
      : makeMemoryDirectory(path, memoryVolumeSize(pod, undefined, deps.allocatable()?.memory), mounter);
  return {
    name: volume.name,
    followsSources: true,
    supports: (spec) => volume.supports(spec),
    setUp: async (request) => {
      const { spec, pod, path } = request;
      // If the content cannot be read, nothing is mounted, and an existing mount is left unchanged.
      const { payload, refreshAtMs } = await volume.collect(spec, pod);
      await makeDirectory(request);
      const ownership = podOwnership(pod, true);
      const setOwnership = async () => {
        if (ownership !== undefined) await setVolumeOwnership(path, ownership);
      };
      await writeAtomically(path, payload, { ...deps, setOwnership });
      return { hostPath: path, mustBeReadOnly: true, seLinuxRelabel: true, refreshAtMs };
    },
    tearDown: async ({ path }) => {
      if (await mounter.isMountPoint(path)) await mounter.unmount(path);
      await removeScratchDirectory(path);
    },
  };
}
