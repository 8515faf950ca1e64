import type { core } from '#api';
import type { FileSystemUsage } from './volume-usage.ts';

/** A volume to mount: an inline volume of the pod, or the PersistentVolume of its claim. */
export interface VolumeSpec {
  /** The name in the pod's spec. */
  readonly podVolumeName: string;
  /** The name in paths and messages: for a PersistentVolume its name. */
  readonly name: string;
  readonly volume: core.Volume;
  readonly persistentVolume?: core.PersistentVolume | undefined;
  readonly claim?: core.PersistentVolumeClaim | undefined;
  readonly readOnly: boolean;
}

export interface SetUpRequest {
  readonly spec: VolumeSpec;
  readonly pod: core.Pod;
  /** The directory of the volume; its parent exists. */
  readonly path: string;
}

export interface MountedVolume {
  /** The path for containers. Absent: the runtime mounts it. */
  readonly hostPath?: string;
  /** Block volumes: the device for containers. */
  readonly devicePath?: string;
  /** Read-only regardless of volumeMounts. */
  readonly mustBeReadOnly: boolean;
  /** Whether the container runtime relabels the files for SELinux. */
  readonly seLinuxRelabel?: boolean;
  /** When the content must be refreshed without a change of its sources. */
  readonly refreshAtMs?: number | undefined;
}

export interface TearDownRequest {
  readonly podUid: string;
  readonly name: string;
  readonly path: string;
}

/** A volume plugin. */
export interface VolumePlugin {
  /** In paths and metrics: `kubernetes.io/secret`. */
  readonly name: string;
  /** The content follows API objects or fields of the pod: `setUp` is called again when these change. */
  readonly followsSources?: boolean;
  supports(spec: VolumeSpec): boolean;
  /** The name of an attachable volume in node.status. */
  attachedName?(spec: VolumeSpec): Promise<string | undefined>;
  /** Whether a volume is not attached because the node has as many as it can have. Never rejects. */
  exceedsLimit?(spec: VolumeSpec): Promise<boolean>;
  /** Idempotent, also across kubelets: changes only what differs. Rejects with a message that users can act on. */
  setUp(request: SetUpRequest): Promise<MountedVolume>;
  /** Undoes setUp, based only on the disk. Idempotent. */
  tearDown(request: TearDownRequest): Promise<void>;
  /** The mount points that tearDown unmounts. Default: the directory itself. */
  ownMounts?(path: string): readonly string[];
  /** Expands a mounted volume. Resolves to false if the node has nothing to do. */
  expand?(request: SetUpRequest, bytes: number): Promise<boolean>;
  /**
   * The volume's usage, for plugins that know it better than the file system, or must not query that; undefined: unknown, and not reported.
   */
  usage?(request: Pick<SetUpRequest, 'path'>): Promise<FileSystemUsage | undefined>;
  /** The node.status names of volumes that are still staged on this machine. */
  stagedNames?(): Promise<readonly string[]>;
  /** Cleans up volumes without pods. */
  removeOrphans?(): Promise<void>;
}

/** A failed mount step, with upstream's event text. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';

  constructor(
    readonly step: string,
    readonly volumeName: string,
    cause: unknown,
  ) {
    super(`${step} failed for volume "${volumeName}" : ${messageOf(cause)}`, { cause });
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
