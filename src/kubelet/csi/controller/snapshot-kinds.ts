import type { core } from '#api';
import type { KubeObject } from '#client';

const GROUP = { group: 'snapshot.storage.k8s.io', version: 'v1' } as const;
export const SNAPSHOT = { ...GROUP, resource: 'volumesnapshots', namespaced: true };
export const SNAPSHOT_CONTENT = { ...GROUP, resource: 'volumesnapshotcontents', namespaced: false };
export const SNAPSHOT_CLASS = { ...GROUP, resource: 'volumesnapshotclasses', namespaced: false };

export interface SnapshotStatusError {
  readonly message?: string;
  readonly time?: string;
}

/** A request for a snapshot of a claim's volume, or a reference to an existing one. */
export interface VolumeSnapshot extends KubeObject {
  readonly spec: {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  };
  readonly status?: {
    readonly boundVolumeSnapshotContentName?: string;
    readonly creationTime?: string;
    readonly readyToUse?: boolean;
    readonly restoreSize?: string;
    readonly error?: SnapshotStatusError;
  };
}

/** A snapshot in the storage system. */
export interface VolumeSnapshotContent extends KubeObject {
  readonly spec: {
    readonly driver: string;
    readonly deletionPolicy: 'Delete' | 'Retain';
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly volumeSnapshotClassName?: string;
    readonly volumeSnapshotRef: core.ObjectReference;
    readonly sourceVolumeMode?: string;
  };
  readonly status?: {
    readonly snapshotHandle?: string;
    /** Nanoseconds since 1970. */
    readonly creationTime?: number;
    readonly readyToUse?: boolean;
    readonly restoreSize?: number;
    readonly error?: SnapshotStatusError;
  };
}

export interface VolumeSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: 'Delete' | 'Retain';
  readonly parameters?: Readonly<Record<string, string>>;
}
