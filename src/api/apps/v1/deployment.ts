import { PodTemplateSpec } from '../../core/v1/pod-template-spec.ts';
import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  bool,
  field,
  type Infer,
  int32,
  int64,
  intOrString,
  kind,
  mapListOf,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateDeployment = object('io.k8s.api.apps.v1.RollingUpdateDeployment', '', {
  maxUnavailable: pointer(1, intOrString),
  maxSurge: pointer(2, intOrString),
});
export type RollingUpdateDeployment = Infer<typeof RollingUpdateDeployment>;

export const DeploymentStrategy = object('io.k8s.api.apps.v1.DeploymentStrategy', '', {
  type: field(1, string),
  rollingUpdate: pointer(2, RollingUpdateDeployment),
});
export type DeploymentStrategy = Infer<typeof DeploymentStrategy>;

export const DeploymentSpec = object('io.k8s.api.apps.v1.DeploymentSpec', '', {
  replicas: pointer(1, int32),
  selector: nullable(2, LabelSelector, '', { required: true }),
  template: required(3, PodTemplateSpec),
  strategy: always(4, DeploymentStrategy, '', { retainKeys: true }),
  minReadySeconds: field(5, int32),
  revisionHistoryLimit: pointer(6, int32),
  paused: field(7, bool),
  progressDeadlineSeconds: pointer(9, int32),
});
export type DeploymentSpec = Infer<typeof DeploymentSpec>;

export const DeploymentCondition = object('io.k8s.api.apps.v1.DeploymentCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastUpdateTime: always(6, time),
  lastTransitionTime: always(7, time),
  reason: field(4, string),
  message: field(5, string),
});
export type DeploymentCondition = Infer<typeof DeploymentCondition>;

export const DeploymentStatus = object('io.k8s.api.apps.v1.DeploymentStatus', '', {
  observedGeneration: field(1, int64),
  replicas: field(2, int32),
  updatedReplicas: field(3, int32),
  readyReplicas: field(7, int32),
  availableReplicas: field(4, int32),
  unavailableReplicas: field(5, int32),
  terminatingReplicas: pointer(9, int32),
  conditions: field(6, mapListOf(DeploymentCondition, 'type'), '', { merge: 'type' }),
  collisionCount: pointer(8, int32),
});
export type DeploymentStatus = Infer<typeof DeploymentStatus>;

export const Deployment = kind(
  {
    name: 'io.k8s.api.apps.v1.Deployment',
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    resource: 'deployments',
    namespaced: true,
    shortNames: ['deploy'],
    categories: ['all'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, DeploymentSpec),
    status: always(3, DeploymentStatus),
  },
);
export type Deployment = Infer<typeof Deployment>;
