import type { core } from '#api';

/** Disks of cloud providers and networks that can be attached once: their id, and whether they are read-only. */
interface Disk {
  readonly id: string;
  readonly readOnly: boolean;
  /** An EBS volume conflicts even when it is only read. */
  readonly neverShared: boolean;
}

function disksOf({ spec }: core.Pod): Disk[] {
  return (spec?.volumes ?? []).flatMap(diskOf);
}

function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: core.Volume): Disk[] {
  if (gcePersistentDisk)
    return [{ id: `gce ${gcePersistentDisk.pdName}`, readOnly: gcePersistentDisk.readOnly === true, neverShared: false }];
  if (awsElasticBlockStore) return [{ id: `ebs ${awsElasticBlockStore.volumeID}`, readOnly: false, neverShared: true }];
  if (iscsi) return [{ id: `iscsi ${iscsi.iqn}`, readOnly: iscsi.readOnly === true, neverShared: false }];
  if (!rbd) return [];
  const { monitors = [], pool, image, readOnly } = rbd;
  // Pools with a common monitor are the same.
  return monitors.map((monitor) => ({ id: `rbd ${monitor} ${pool} ${image}`, readOnly: readOnly === true, neverShared: false }));
}

export function hasExclusiveDisk(pod: core.Pod): boolean {
  return disksOf(pod).length > 0;
}

export function disksConflict(a: core.Pod, b: core.Pod): boolean {
  const disks = disksOf(a);
  if (disks.length === 0) return false;
  const others = disksOf(b);
  return disks.some((disk) => others.some((other) => disk.id === other.id && (disk.neverShared || !(disk.readOnly && other.readOnly))));
}
