import { access } from 'node:fs/promises';
import { isBlockVolume } from '../csi/volume-capability.ts';
import { namesIn } from './pod-clean-up.ts';
import type { PodDirectories } from './pod-directories.ts';
import { VolumeError, type VolumeSpec } from './volume-plugin.ts';

interface ExclusiveRequest {
  readonly spec: VolumeSpec;
  readonly podUid: string;
  /** The directory of the volume in a pod. */
  pathIn(podUid: string): string;
}

/** Volumes of which one pod at a time may use each. The scheduler sees to it too, but not for pods that name their node. */
export class ExclusiveVolumes {
  /** By the name of the PersistentVolume. */
  readonly #users = new Map<string, string>();

  constructor(private readonly directories: PodDirectories) {}

  /** Rejects, with upstream's words, while another pod has the volume. */
  async reserve(request: ExclusiveRequest): Promise<void> {
    const { metadata, spec } = request.spec.persistentVolume ?? {};
    if (metadata === undefined || !isExclusive(spec?.accessModes)) return;
    const { name } = metadata;
    const { podUid } = request;
    let user = this.#users.get(name);
    if (user === podUid) return;
    if (user === undefined) {
      // At once: another pod may ask while the disk is read.
      this.#users.set(name, podUid);
      user = (await this.#userOnDisk(request)) ?? podUid;
      this.#users.set(name, user);
    }
    if (user === podUid) return;
    const step = isBlockVolume(request.spec.persistentVolume) ? 'MapVolume.SetUpDevice' : 'MountVolume.SetUp';
    throw new VolumeError(step, name, 'volume uses the ReadWriteOncePod access mode and is already in use by another pod');
  }

  /** The volumes of the pod are unmounted. */
  release(podUid: string): void {
    for (const [name, user] of this.#users) if (user === podUid) this.#users.delete(name);
  }

  /** A pod that an earlier kubelet mounted it for. */
  async #userOnDisk({ podUid, pathIn }: ExclusiveRequest): Promise<string | undefined> {
    for (const other of await namesIn(this.directories.pods)) {
      if (other !== podUid && (await exists(pathIn(other)))) return other;
    }
    return undefined;
  }
}

/** Of several access modes it is not known which one the pod wants. */
function isExclusive(modes: readonly string[] = []): boolean {
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod';
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
