import { storage } from '#api';
import type { InformerFactory } from '#client';

/** Annotations of a CSIDriver object that stand for flags of its sidecars. */
const STRICT_TOPOLOGY = 'sampan.dev/strict-topology';
const IMMEDIATE_TOPOLOGY = 'sampan.dev/immediate-topology';
const EXTRA_CREATE_METADATA = 'sampan.dev/extra-create-metadata';
const DEFAULT_FS_TYPE = 'sampan.dev/default-fstype';

/** Flags of external-provisioner and -snapshotter. */
export interface SidecarFlags {
  readonly strictTopology: boolean;
  readonly immediateTopology: boolean;
  /** The driver is told the names of claims, volumes and snapshots. */
  readonly extraCreateMetadata: boolean;
  /** Where the class names none; empty: the driver chooses. */
  readonly defaultFsType: string;
}

export function sidecarFlags(driverName: string, informers: InformerFactory): SidecarFlags {
  const annotations = informers.of(storage.CSIDriver).lister.get({ name: driverName })?.metadata.annotations ?? {};
  return {
    strictTopology: annotations[STRICT_TOPOLOGY] === 'true',
    immediateTopology: annotations[IMMEDIATE_TOPOLOGY] !== 'false',
    extraCreateMetadata: annotations[EXTRA_CREATE_METADATA] === 'true',
    // As most deployments of external-provisioner have it.
    defaultFsType: annotations[DEFAULT_FS_TYPE] ?? 'ext4',
  };
}
