import { PodTemplateSpec } from '../../core/v1/pod-template/pod-template-spec.ts';
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
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateDeployment = object('io.k8s.api.apps.v1.RollingUpdateDeployment', 'Settings of a rolling update.', {
  maxUnavailable: pointer(1, intOrString, 'How many pods may be missing meanwhile, as a number or percentage. 25% by default.'),
  maxSurge: pointer(2, intOrString, 'How many pods may be too many meanwhile, as a number or percentage. 25% by default.'),
});
export type RollingUpdateDeployment = Infer<typeof RollingUpdateDeployment>;

export const DeploymentStrategy = object('io.k8s.api.apps.v1.DeploymentStrategy', 'How old pods are replaced by new ones.', {
  type: field(1, named('v1.DeploymentStrategyType'), 'RollingUpdate (the default), or Recreate to end the old ones first.'),
  rollingUpdate: pointer(2, RollingUpdateDeployment, 'Settings of a rolling update.'),
});
export type DeploymentStrategy = Infer<typeof DeploymentStrategy>;

export const DeploymentSpec = object('io.k8s.api.apps.v1.DeploymentSpec', 'How many pods of what kind, and how they are replaced.', {
  replicas: pointer(1, int32, 'How many pods are wanted. 1 by default.'),
  selector: nullable(2, LabelSelector, 'Labels of the pods that belong to it. Cannot be changed.', { required: true }),
  template: required(3, PodTemplateSpec, 'The pods to make.'),
  strategy: always(4, DeploymentStrategy, 'How old pods are replaced by new ones.', { retainKeys: true }),
  minReadySeconds: field(5, int32, 'How long a new pod must be ready to count as available.'),
  revisionHistoryLimit: pointer(6, int32, 'How many old ReplicaSets are kept for going back. 10 by default.'),
  paused: field(7, bool, 'If true, changes of the template are not rolled out.'),
  progressDeadlineSeconds: pointer(9, int32, 'How long a rollout may go without progress before it counts as failed. 600 by default.'),
});
export type DeploymentSpec = Infer<typeof DeploymentSpec>;

export const DeploymentCondition = object('io.k8s.api.apps.v1.DeploymentCondition', 'One finding about a deployment.', {
  type: required(1, named('v1.DeploymentConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastUpdateTime: always(6, time, 'When it was last updated.'),
  lastTransitionTime: always(7, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type DeploymentCondition = Infer<typeof DeploymentCondition>;

export const DeploymentStatus = object('io.k8s.api.apps.v1.DeploymentStatus', 'The observed state of a deployment.', {
  observedGeneration: field(1, int64, 'The generation that this status is about.'),
  replicas: field(2, int32, 'How many pods there are.'),
  updatedReplicas: field(3, int32, 'How many pods have the current template.'),
  readyReplicas: field(7, int32, 'How many pods are ready.'),
  availableReplicas: field(4, int32, 'How many pods have been ready for minReadySeconds.'),
  unavailableReplicas: field(5, int32, 'How many pods are missing for all to be available.'),
  terminatingReplicas: pointer(9, int32, 'How many pods are ending.'),
  conditions: field(6, mapListOf(DeploymentCondition, 'type'), 'Available, Progressing and ReplicaFailure.', { merge: 'type' }),
  collisionCount: pointer(8, int32, 'The number of name collisions of ReplicaSets; part of the hash in new names.'),
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
  'Keeps pods running and replaces them gradually when they are to change.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, DeploymentSpec, 'What is wanted.'),
    status: always(3, DeploymentStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type Deployment = Infer<typeof Deployment>;

/** The deprecated annotation with the revision to roll back to, still validated like the former spec field. */
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
