import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  kind,
  listOf,
  mapListOf,
  mapOf,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';

export const PersistentVolumeClaimCondition = object('io.k8s.api.core.v1.PersistentVolumeClaimCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: field(5, string),
  message: field(6, string),
});
export type PersistentVolumeClaimCondition = Infer<typeof PersistentVolumeClaimCondition>;

export const ModifyVolumeStatus = object('io.k8s.api.core.v1.ModifyVolumeStatus', '', {
  targetVolumeAttributesClassName: field(1, string),
  status: required(2, string),
});
export type ModifyVolumeStatus = Infer<typeof ModifyVolumeStatus>;

export const PersistentVolumeClaimStatus = object('io.k8s.api.core.v1.PersistentVolumeClaimStatus', '', {
  phase: field(1, string),
  accessModes: field(2, listOf(string)),
  capacity: field(3, mapOf(quantity)),
  conditions: field(4, mapListOf(PersistentVolumeClaimCondition, 'type'), '', { merge: 'type' }),
  allocatedResources: field(5, mapOf(quantity)),
  allocatedResourceStatuses: field(7, mapOf(string)),
  currentVolumeAttributesClassName: pointer(8, string),
  modifyVolumeStatus: pointer(9, ModifyVolumeStatus),
});
export type PersistentVolumeClaimStatus = Infer<typeof PersistentVolumeClaimStatus>;

export const PersistentVolumeClaim = kind(
  {
    name: 'io.k8s.api.core.v1.PersistentVolumeClaim',
    group: '',
    version: 'v1',
    kind: 'PersistentVolumeClaim',
    resource: 'persistentvolumeclaims',
    namespaced: true,
    shortNames: ['pvc'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, PersistentVolumeClaimSpec),
    status: always(3, PersistentVolumeClaimStatus),
  },
);
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
