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

/** Of several volumes with one disk, those that conflict most. */
function byId(disks: readonly Disk[]): ReadonlyMap<string, Disk> {
  const result = new Map<string, Disk>();
  for (const disk of disks) {
    const existing = result.get(disk.id);
    result.set(disk.id, existing === undefined ? disk : { ...disk, readOnly: disk.readOnly && existing.readOnly });
  }
  return result;
}

/** Pods are compared with all pods of all nodes. */
const disksOfPods = new WeakMap<core.Pod, ReadonlyMap<string, Disk>>();
const NO_DISKS: ReadonlyMap<string, Disk> = new Map();

function diskTable(pod: core.Pod): ReadonlyMap<string, Disk> {
  if (pod.spec?.volumes === undefined) return NO_DISKS;
  let disks = disksOfPods.get(pod);
  if (disks === undefined) {
    disks = byId(disksOf(pod));
    disksOfPods.set(pod, disks);
  }
  return disks;
}

export function disksConflict(a: core.Pod, b: core.Pod): boolean {
  const [disks, others] = [diskTable(a), diskTable(b)];
  if (disks.size > others.size) return disksConflict(b, a);
  for (const [id, disk] of disks) {
    const other = others.get(id);
    if (other !== undefined && (disk.neverShared || !(disk.readOnly && other.readOnly))) return true;
  }
  return false;
}
