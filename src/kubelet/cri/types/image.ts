import type { StringMap } from './sandbox.ts';

export interface ImageSpec {
  /** A name, or an id from `imageStatus`. */
  readonly image: string;
  /** The name in the pod's spec. */
  readonly userSpecifiedImage?: string;
  readonly runtimeHandler?: string;
  readonly imageRef?: string;
  readonly annotations?: StringMap;
}

export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  /** The image's user, if numeric. */
  readonly uid?: number;
  /** The image's user, if it is a name. */
  readonly username?: string;
  readonly spec?: ImageSpec;
  /** Exempt from garbage collection. */
  readonly pinned: boolean;
}

export interface AuthConfig {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly serverAddress?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
}

export interface FilesystemUsage {
  readonly timestampMs: number;
  readonly mountpoint: string;
  readonly usedBytes?: number;
  readonly inodesUsed?: number;
}

export interface ImageFsInfo {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
}
