import { fillUnset, fillZero, mapField } from '../../../defaulting.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from './persistent-volume-claim.ts';
import type { PersistentVolumeClaimSpec, VolumeResourceRequirements } from './persistent-volume-claim-spec.ts';

export function defaultPersistentVolumeClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const spec = defaultPersistentVolumeClaimSpec(claim.spec ?? {});
  const status = defaultStatus(claim.status ?? {});
  return spec === claim.spec && status === claim.status ? claim : { ...claim, spec, status };
}

export function defaultPersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const rounded = mapField(spec, 'resources', (resources: VolumeResourceRequirements) =>
    mapField(mapField(resources, 'limits', roundResources), 'requests', roundResources),
  );
  return fillUnset(rounded, { volumeMode: 'Filesystem' });
}

function defaultStatus(status: PersistentVolumeClaimStatus): PersistentVolumeClaimStatus {
  const filled = fillZero(status, { phase: 'Pending' });
  return mapField(mapField(filled, 'capacity', roundResources), 'allocatedResources', roundResources);
}
