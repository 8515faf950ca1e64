import { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  int64,
  kind,
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const ReplicaSetSpec = object('io.k8s.api.apps.v1.ReplicaSetSpec', 'How many pods of what kind.', {
  replicas: pointer(1, int32, 'How many pods are wanted. 1 by default.'),
  minReadySeconds: field(4, int32, 'How long a new pod must be ready to count as available.'),
  selector: nullable(2, LabelSelector, 'Labels of the pods that belong to it. Cannot be changed.', { required: true }),
  template: always(3, PodTemplateSpec, 'The pods to make when there are too few.'),
});
export type ReplicaSetSpec = Infer<typeof ReplicaSetSpec>;

export const ReplicaSetCondition = object('io.k8s.api.apps.v1.ReplicaSetCondition', 'One finding about a replica set.', {
  type: required(1, named('v1.ReplicaSetConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type ReplicaSetCondition = Infer<typeof ReplicaSetCondition>;

export const ReplicaSetStatus = object('io.k8s.api.apps.v1.ReplicaSetStatus', 'How many pods there are.', {
  replicas: required(1, int32, 'How many pods there are.'),
  fullyLabeledReplicas: field(2, int32, 'How many pods have all labels of the template.'),
  readyReplicas: field(4, int32, 'How many pods are ready.'),
  availableReplicas: field(5, int32, 'How many pods have been ready for minReadySeconds.'),
  terminatingReplicas: pointer(7, int32, 'How many pods are ending.'),
  observedGeneration: field(3, int64, 'The generation that this status is about.'),
  conditions: field(6, mapListOf(ReplicaSetCondition, 'type'), 'What is known of its state.', { merge: 'type' }),
});
export type ReplicaSetStatus = Infer<typeof ReplicaSetStatus>;

export const ReplicaSet = kind(
  {
    name: 'io.k8s.api.apps.v1.ReplicaSet',
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
    resource: 'replicasets',
    namespaced: true,
    shortNames: ['rs'],
    categories: ['all'],
  },
  'Keeps a number of pods running. Usually a Deployment makes it.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, ReplicaSetSpec, 'What is wanted.'),
    status: always(3, ReplicaSetStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type ReplicaSet = Infer<typeof ReplicaSet>;
