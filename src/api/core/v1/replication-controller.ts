import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  atomicMapOf,
  field,
  type Infer,
  int32,
  int64,
  kind,
  mapListOf,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';
import { PodTemplateSpec } from './pod-template-spec.ts';

export const ReplicationControllerSpec = object('io.k8s.api.core.v1.ReplicationControllerSpec', '', {
  replicas: pointer(1, int32, '', { default: 1 }),
  minReadySeconds: field(4, int32),
  selector: field(2, atomicMapOf(string)),
  template: pointer(3, PodTemplateSpec),
});
export type ReplicationControllerSpec = Infer<typeof ReplicationControllerSpec>;

export const ReplicationControllerCondition = object('io.k8s.api.core.v1.ReplicationControllerCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type ReplicationControllerCondition = Infer<typeof ReplicationControllerCondition>;

export const ReplicationControllerStatus = object('io.k8s.api.core.v1.ReplicationControllerStatus', '', {
  replicas: required(1, int32),
  fullyLabeledReplicas: field(2, int32),
  readyReplicas: field(4, int32),
  availableReplicas: field(5, int32),
  observedGeneration: field(3, int64),
  conditions: field(6, mapListOf(ReplicationControllerCondition, 'type'), '', { merge: 'type' }),
});
export type ReplicationControllerStatus = Infer<typeof ReplicationControllerStatus>;

export const ReplicationController = kind(
  {
    name: 'io.k8s.api.core.v1.ReplicationController',
    group: '',
    version: 'v1',
    kind: 'ReplicationController',
    resource: 'replicationcontrollers',
    namespaced: true,
    shortNames: ['rc'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, ReplicationControllerSpec),
    status: always(3, ReplicationControllerStatus),
  },
);
export type ReplicationController = Infer<typeof ReplicationController>;
