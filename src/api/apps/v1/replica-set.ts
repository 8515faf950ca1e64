import { PodTemplateSpec } from '../../core/v1/pod-template-spec.ts';
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
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const ReplicaSetSpec = object('io.k8s.api.apps.v1.ReplicaSetSpec', '', {
  replicas: pointer(1, int32),
  minReadySeconds: field(4, int32),
  selector: nullable(2, LabelSelector, '', { required: true }),
  template: always(3, PodTemplateSpec),
});
export type ReplicaSetSpec = Infer<typeof ReplicaSetSpec>;

export const ReplicaSetCondition = object('io.k8s.api.apps.v1.ReplicaSetCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type ReplicaSetCondition = Infer<typeof ReplicaSetCondition>;

export const ReplicaSetStatus = object('io.k8s.api.apps.v1.ReplicaSetStatus', '', {
  replicas: required(1, int32),
  fullyLabeledReplicas: field(2, int32),
  readyReplicas: field(4, int32),
  availableReplicas: field(5, int32),
  terminatingReplicas: pointer(7, int32),
  observedGeneration: field(3, int64),
  conditions: field(6, mapListOf(ReplicaSetCondition, 'type'), '', { merge: 'type' }),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ReplicaSetSpec),
    status: always(3, ReplicaSetStatus),
  },
);
export type ReplicaSet = Infer<typeof ReplicaSet>;
