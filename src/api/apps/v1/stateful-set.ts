import { PersistentVolumeClaim } from '../../core/v1/persistent-volume-claim.ts';
import { PodTemplateSpec } from '../../core/v1/pod-template-spec.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  int64,
  intOrString,
  kind,
  listOf,
  mapListOf,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateStatefulSetStrategy = object('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', '', {
  partition: pointer(1, int32),
  maxUnavailable: pointer(2, intOrString),
});
export type RollingUpdateStatefulSetStrategy = Infer<typeof RollingUpdateStatefulSetStrategy>;

export const StatefulSetUpdateStrategy = object('io.k8s.api.apps.v1.StatefulSetUpdateStrategy', '', {
  type: field(1, string),
  rollingUpdate: pointer(2, RollingUpdateStatefulSetStrategy),
});
export type StatefulSetUpdateStrategy = Infer<typeof StatefulSetUpdateStrategy>;

export const StatefulSetPersistentVolumeClaimRetentionPolicy = object(
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  '',
  {
    whenDeleted: field(1, string),
    whenScaled: field(2, string),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = Infer<typeof StatefulSetPersistentVolumeClaimRetentionPolicy>;

export const StatefulSetOrdinals = object('io.k8s.api.apps.v1.StatefulSetOrdinals', '', {
  start: always(1, int32),
});
export type StatefulSetOrdinals = Infer<typeof StatefulSetOrdinals>;

export const StatefulSetSpec = object('io.k8s.api.apps.v1.StatefulSetSpec', '', {
  replicas: pointer(1, int32),
  selector: nullable(2, LabelSelector, '', { required: true }),
  template: required(3, PodTemplateSpec),
  volumeClaimTemplates: field(4, listOf(PersistentVolumeClaim)),
  serviceName: always(5, string),
  podManagementPolicy: field(6, string),
  updateStrategy: always(7, StatefulSetUpdateStrategy),
  revisionHistoryLimit: pointer(8, int32),
  minReadySeconds: field(9, int32),
  persistentVolumeClaimRetentionPolicy: pointer(10, StatefulSetPersistentVolumeClaimRetentionPolicy),
  ordinals: pointer(11, StatefulSetOrdinals),
});
export type StatefulSetSpec = Infer<typeof StatefulSetSpec>;

export const StatefulSetCondition = object('io.k8s.api.apps.v1.StatefulSetCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type StatefulSetCondition = Infer<typeof StatefulSetCondition>;

export const StatefulSetStatus = object('io.k8s.api.apps.v1.StatefulSetStatus', '', {
  observedGeneration: field(1, int64),
  replicas: required(2, int32),
  readyReplicas: field(3, int32),
  currentReplicas: field(4, int32),
  updatedReplicas: field(5, int32),
  currentRevision: field(6, string),
  updateRevision: field(7, string),
  collisionCount: pointer(9, int32),
  conditions: field(10, mapListOf(StatefulSetCondition, 'type'), '', { merge: 'type' }),
  availableReplicas: always(11, int32),
});
export type StatefulSetStatus = Infer<typeof StatefulSetStatus>;

export const StatefulSet = kind(
  {
    name: 'io.k8s.api.apps.v1.StatefulSet',
    group: 'apps',
    version: 'v1',
    kind: 'StatefulSet',
    resource: 'statefulsets',
    namespaced: true,
    shortNames: ['sts'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, StatefulSetSpec),
    status: always(3, StatefulSetStatus),
  },
);
export type StatefulSet = Infer<typeof StatefulSet>;
