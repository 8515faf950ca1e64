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
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateDaemonSet = object('io.k8s.api.apps.v1.RollingUpdateDaemonSet', 'Settings of a rolling update.', {
  maxUnavailable: pointer(1, intOrString, 'How many nodes may be without a pod meanwhile, as a number or percentage. 1 by default.'),
  maxSurge: pointer(2, intOrString, 'How many nodes may have two pods meanwhile, as a number or percentage. 0 by default.'),
});
export type RollingUpdateDaemonSet = Infer<typeof RollingUpdateDaemonSet>;

export const DaemonSetUpdateStrategy = object(
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy',
  'How pods are replaced when the template changes.',
  {
    type: field(1, named('v1.DaemonSetUpdateStrategyType'), 'RollingUpdate (the default), or OnDelete to wait until they are deleted.'),
    rollingUpdate: pointer(2, RollingUpdateDaemonSet, 'Settings of a rolling update.'),
  },
);
export type DaemonSetUpdateStrategy = Infer<typeof DaemonSetUpdateStrategy>;

export const DaemonSetSpec = object('io.k8s.api.apps.v1.DaemonSetSpec', 'What to run on the nodes.', {
  selector: nullable(1, LabelSelector, 'Labels of the pods that belong to it. Cannot be changed.', { required: true }),
  template: required(2, PodTemplateSpec, 'The template of pods. Its node selector and affinity select the nodes.'),
  updateStrategy: always(3, DaemonSetUpdateStrategy, 'How pods are replaced when the template changes.'),
  minReadySeconds: field(4, int32, 'How long a new pod must be ready to count as available.'),
  revisionHistoryLimit: pointer(6, int32, 'How many old states are kept. 10 by default.'),
});
export type DaemonSetSpec = Infer<typeof DaemonSetSpec>;

export const DaemonSetCondition = object('io.k8s.api.apps.v1.DaemonSetCondition', 'One finding about a daemon set.', {
  type: required(1, named('v1.DaemonSetConditionType'), 'The type of finding.'),
  status: required(2, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  lastTransitionTime: always(3, time, 'When the status last changed.'),
  reason: field(4, string, 'Why, as one CamelCase word.'),
  message: field(5, string, 'Why, in words.'),
});
export type DaemonSetCondition = Infer<typeof DaemonSetCondition>;

export const DaemonSetStatus = object('io.k8s.api.apps.v1.DaemonSetStatus', 'On how many nodes the pods run.', {
  currentNumberScheduled: required(1, int32, 'On how many nodes a pod runs that should.'),
  numberMisscheduled: required(2, int32, 'On how many nodes a pod runs that should not.'),
  desiredNumberScheduled: required(3, int32, 'On how many nodes a pod should run.'),
  numberReady: required(4, int32, 'On how many nodes a pod is ready.'),
  observedGeneration: field(5, int64, 'The generation that this status is about.'),
  updatedNumberScheduled: field(6, int32, 'On how many nodes a pod of the current template runs.'),
  numberAvailable: field(7, int32, 'On how many nodes a pod is available.'),
  numberUnavailable: field(8, int32, 'On how many nodes a pod should be available and is not.'),
  collisionCount: pointer(9, int32, 'The number of name collisions of revisions; part of the hash in new names.'),
  conditions: field(10, mapListOf(DaemonSetCondition, 'type'), 'What is known of its state.', { merge: 'type' }),
});
export type DaemonSetStatus = Infer<typeof DaemonSetStatus>;

export const DaemonSet = kind(
  {
    name: 'io.k8s.api.apps.v1.DaemonSet',
    group: 'apps',
    version: 'v1',
    kind: 'DaemonSet',
    resource: 'daemonsets',
    namespaced: true,
    shortNames: ['ds'],
    categories: ['all'],
  },
  'Runs a pod on every node, or on every node of a kind.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: always(2, DaemonSetSpec, 'What is wanted.'),
    status: always(3, DaemonSetStatus, 'What is the case, as last reported. Set by the system.'),
  },
);
export type DaemonSet = Infer<typeof DaemonSet>;
