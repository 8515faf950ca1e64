import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import {
  always,
  field,
  granularMapOf,
  type Infer,
  kind,
  listOf,
  mapListOf,
  mapOf,
  named,
  object,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../../schema.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';

export const PersistentVolumeClaimCondition = object('io.k8s.api.core.v1.PersistentVolumeClaimCondition', 'One finding about a claim.', {
  type: required(1, named('v1.PersistentVolumeClaimConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastProbeTime: always(3, time, 'When it was last probed.'),
  lastTransitionTime: always(4, time, 'When the status last changed.'),
  reason: field(5, string, 'Why, as one CamelCase word.'),
  message: field(6, string, 'Why, in words.'),
});
export type PersistentVolumeClaimCondition = Infer<typeof PersistentVolumeClaimCondition>;

export const ModifyVolumeStatus = object('io.k8s.api.core.v1.ModifyVolumeStatus', "How far a change of a volume's attributes has come.", {
  targetVolumeAttributesClassName: field(1, string, 'The class that is aimed at.'),
  status: required(2, named('v1.PersistentVolumeClaimModifyVolumeStatus'), 'Pending, InProgress or Infeasible.'),
});
export type ModifyVolumeStatus = Infer<typeof ModifyVolumeStatus>;

export const PersistentVolumeClaimStatus = object('io.k8s.api.core.v1.PersistentVolumeClaimStatus', 'What a claim got.', {
  phase: field(1, named('v1.PersistentVolumeClaimPhase'), 'Pending, Bound or Lost.'),
  accessModes: field(2, listOf(named('v1.PersistentVolumeAccessMode')), 'How the volume behind the claim may be mounted.'),
  capacity: field(3, mapOf(quantity), 'How much storage the volume has.'),
  conditions: field(4, mapListOf(PersistentVolumeClaimCondition, 'type'), 'What is going on with the volume, such as a resize.', {
    merge: 'type',
  }),
  allocatedResources: field(5, mapOf(quantity), 'The storage reserved during a resize.'),
  allocatedResourceStatuses: field(
    7,
    named('map[v1.ResourceName]v1.ClaimResourceStatus', granularMapOf(string)),
    'The state of a resize, by resource.',
  ),
  currentVolumeAttributesClassName: pointer(8, string, 'The VolumeAttributesClass that the volume has.'),
  modifyVolumeStatus: pointer(9, ModifyVolumeStatus, "How far a change of the volume's attributes has come."),
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
  'A request for storage that pods use by name.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, PersistentVolumeClaimSpec, 'What is wanted.'),
    status: always(3, PersistentVolumeClaimStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
