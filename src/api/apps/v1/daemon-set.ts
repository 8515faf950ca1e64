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
  mapListOf,
  nullable,
  object,
  pointer,
  required,
  string,
  time,
} from '../../schema.ts';

export const RollingUpdateDaemonSet = object('io.k8s.api.apps.v1.RollingUpdateDaemonSet', '', {
  maxUnavailable: pointer(1, intOrString),
  maxSurge: pointer(2, intOrString),
});
export type RollingUpdateDaemonSet = Infer<typeof RollingUpdateDaemonSet>;

export const DaemonSetUpdateStrategy = object('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', '', {
  type: field(1, string),
  rollingUpdate: pointer(2, RollingUpdateDaemonSet),
});
export type DaemonSetUpdateStrategy = Infer<typeof DaemonSetUpdateStrategy>;

export const DaemonSetSpec = object('io.k8s.api.apps.v1.DaemonSetSpec', '', {
  selector: nullable(1, LabelSelector, '', { required: true }),
  template: required(2, PodTemplateSpec),
  updateStrategy: always(3, DaemonSetUpdateStrategy),
  minReadySeconds: field(4, int32),
  revisionHistoryLimit: pointer(6, int32),
});
export type DaemonSetSpec = Infer<typeof DaemonSetSpec>;

export const DaemonSetCondition = object('io.k8s.api.apps.v1.DaemonSetCondition', '', {
  type: required(1, string),
  status: required(2, string),
  lastTransitionTime: always(3, time),
  reason: field(4, string),
  message: field(5, string),
});
export type DaemonSetCondition = Infer<typeof DaemonSetCondition>;

export const DaemonSetStatus = object('io.k8s.api.apps.v1.DaemonSetStatus', '', {
  currentNumberScheduled: required(1, int32),
  numberMisscheduled: required(2, int32),
  desiredNumberScheduled: required(3, int32),
  numberReady: required(4, int32),
  observedGeneration: field(5, int64),
  updatedNumberScheduled: field(6, int32),
  numberAvailable: field(7, int32),
  numberUnavailable: field(8, int32),
  collisionCount: pointer(9, int32),
  conditions: field(10, mapListOf(DaemonSetCondition, 'type'), '', { merge: 'type' }),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    spec: always(2, DaemonSetSpec),
    status: always(3, DaemonSetStatus),
  },
);
export type DaemonSet = Infer<typeof DaemonSet>;
