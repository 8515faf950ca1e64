import { PersistentVolumeClaim } from '../../core/v1/persistent-volume-claim/persistent-volume-claim.ts';
import { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
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
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateStatefulSetStrategy = object(
  'io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy',
  'Settings of a rolling update.',
  {
    partition: pointer(1, int32, 'Only pods with this number or a higher one are replaced. 0 by default.'),
    maxUnavailable: pointer(2, intOrString, 'How many pods may be missing meanwhile, as a number or percentage. 1 by default.'),
  },
);
export type RollingUpdateStatefulSetStrategy = Infer<typeof RollingUpdateStatefulSetStrategy>;

export const StatefulSetUpdateStrategy = object(
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy',
  'How pods are replaced when the template changes.',
  {
    type: field(1, named('v1.StatefulSetUpdateStrategyType'), 'RollingUpdate (the default), or OnDelete to wait until they are deleted.'),
    rollingUpdate: pointer(2, RollingUpdateStatefulSetStrategy, 'Settings of a rolling update.'),
  },
);
export type StatefulSetUpdateStrategy = Infer<typeof StatefulSetUpdateStrategy>;

export const StatefulSetPersistentVolumeClaimRetentionPolicy = object(
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  'What becomes of claims.',
  {
    whenDeleted: field(1, named('v1.PersistentVolumeClaimRetentionPolicyType'), 'When the set is deleted: Retain (the default) or Delete.'),
    whenScaled: field(
      2,
      named('v1.PersistentVolumeClaimRetentionPolicyType'),
      'When the set becomes smaller: Retain (the default) or Delete.',
    ),
  },
);
export type StatefulSetPersistentVolumeClaimRetentionPolicy = Infer<typeof StatefulSetPersistentVolumeClaimRetentionPolicy>;

export const StatefulSetOrdinals = object('io.k8s.api.apps.v1.StatefulSetOrdinals', 'How pods are numbered.', {
  start: always(1, int32, 'The first number. 0 by default.'),
});
export type StatefulSetOrdinals = Infer<typeof StatefulSetOrdinals>;

export const StatefulSetSpec = object('io.k8s.api.apps.v1.StatefulSetSpec', 'How many pods of what kind, and with what storage.', {
  replicas: pointer(1, int32, 'How many pods are wanted. 1 by default.'),
  selector: nullable(2, LabelSelector, 'Labels of the pods that belong to it. Cannot be changed.', { required: true }),
  template: required(3, PodTemplateSpec, 'The pods to make. Each is named after the set and its number.'),
  volumeClaimTemplates: field(4, listOf(PersistentVolumeClaim), 'Claims that every pod gets for itself.'),
  serviceName: always(5, string, 'The headless service that gives the pods their names.'),
  podManagementPolicy: field(
    6,
    named('v1.PodManagementPolicyType'),
    'OrderedReady (the default) makes pods one after another, Parallel all at once.',
  ),
  updateStrategy: always(7, StatefulSetUpdateStrategy, 'How pods are replaced when the template changes.'),
  revisionHistoryLimit: pointer(8, int32, 'How many old states are kept. 10 by default.'),
  minReadySeconds: field(9, int32, 'How long a new pod must be ready to count as available.'),
  persistentVolumeClaimRetentionPolicy: pointer(
    10,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    'Whether claims are deleted when pods or the set are deleted.',
  ),
  ordinals: pointer(11, StatefulSetOrdinals, 'With which number counting starts.'),
});
export type StatefulSetSpec = Infer<typeof StatefulSetSpec>;

export const StatefulSetCondition = object('io.k8s.api.apps.v1.StatefulSetCondition', 'One finding about a stateful set.', {
  type: required(1, named('v1.StatefulSetConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type StatefulSetCondition = Infer<typeof StatefulSetCondition>;

export const StatefulSetStatus = object('io.k8s.api.apps.v1.StatefulSetStatus', 'The observed state of a stateful set.', {
  observedGeneration: field(1, int64, 'The generation that this status is about.'),
  replicas: required(2, int32, 'How many pods there are.'),
  readyReplicas: field(3, int32, 'How many pods are ready.'),
  currentReplicas: field(4, int32, 'How many pods have the state of currentRevision.'),
  updatedReplicas: field(5, int32, 'How many pods have the state of updateRevision.'),
  currentRevision: field(6, string, 'The state of the pods that are not yet replaced.'),
  updateRevision: field(7, string, 'The state that pods are brought to.'),
  collisionCount: pointer(9, int32, 'The number of name collisions of revisions; part of the hash in new names.'),
  conditions: field(10, mapListOf(StatefulSetCondition, 'type'), 'What is known of its state.', { merge: 'type' }),
  availableReplicas: always(11, int32, 'How many pods have been ready for minReadySeconds.'),
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
  'Runs pods that have a name, a place in order and storage of their own.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, StatefulSetSpec, 'What is wanted.'),
    status: always(3, StatefulSetStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type StatefulSet = Infer<typeof StatefulSet>;
