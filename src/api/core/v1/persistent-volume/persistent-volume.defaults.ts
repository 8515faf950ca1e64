import { fillUnset, fillZero, mapField } from '../../../defaulting.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import type { PersistentVolume } from './persistent-volume.ts';
import type { PersistentVolumeSpec } from './persistent-volume-spec.ts';

export function defaultPersistentVolume(volume: PersistentVolume): PersistentVolume {
  const spec = defaultPersistentVolumeSpec(
    fillUnset(fillZero(volume.spec ?? {}, { persistentVolumeReclaimPolicy: 'Retain' }), { volumeMode: 'Filesystem' }),
  );
  const status = fillZero(volume.status ?? {}, { phase: 'Pending' });
  return spec === volume.spec && status === volume.status ? volume : { ...volume, spec, status };
}

/** Defaults of a spec in a volume or inline in an attachment. */
export function defaultPersistentVolumeSpec(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  let result = mapField(spec, 'capacity', roundResources);
  result = mapField(result, 'hostPath', (hostPath) => fillUnset(hostPath, { type: '' }));
  result = mapField(result, 'rbd', (rbd) => fillZero(rbd, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }));
  result = mapField(result, 'iscsi', (iscsi) => fillZero(iscsi, { iscsiInterface: 'default' }));
  result = mapField(result, 'azureDisk', (disk) =>
    fillUnset(disk, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }),
  );
  return mapField(result, 'scaleIO', (scaleIO) => fillZero(scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' }));
}
