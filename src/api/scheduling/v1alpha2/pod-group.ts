import { Condition } from '../../meta/v1/condition.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import {
  always,
  field,
  type Infer,
  int32,
  kind,
  mapListOf,
  named,
  nullable,
  object,
  pointer,
  required,
  string,
  union,
} from '../../schema.ts';
import { PodGroupResourceClaim, PodGroupSchedulingConstraints, PodGroupSchedulingPolicy } from './pod-group-policy.ts';

const WorkloadPodGroupTemplateReference = object(
  'io.k8s.api.scheduling.v1alpha2.WorkloadPodGroupTemplateReference',
  'A template in a workload.',
  {
    workloadName: required(1, string, 'The workload, in the same namespace.'),
    podGroupTemplateName: required(2, string, 'The template in it.'),
  },
);

const PodGroupTemplateReference = union(
  object('io.k8s.api.scheduling.v1alpha2.PodGroupTemplateReference', 'The template that a group was made from.', {
    workload: nullable(1, WorkloadPodGroupTemplateReference, 'A template in a workload.'),
  }),
  { fields: ['workload'] },
);

export const PodGroupSpec = object('io.k8s.api.scheduling.v1alpha2.PodGroupSpec', 'How the pods of the group are scheduled.', {
  podGroupTemplateRef: nullable(1, PodGroupTemplateReference, 'The template that the group was made from. Cannot be changed.'),
  schedulingPolicy: required(2, PodGroupSchedulingPolicy, 'Together, or one by one. Cannot be changed.'),
  schedulingConstraints: pointer(3, PodGroupSchedulingConstraints, 'Where the pods may be placed. Cannot be changed.'),
  resourceClaims: field(4, mapListOf(PodGroupResourceClaim, 'name'), 'Claims that the pods share. Cannot be changed.', {
    merge: 'name',
    retainKeys: true,
  }),
  disruptionMode: pointer(5, named('v1alpha2.DisruptionMode'), 'What is evicted together: Pod or PodGroup.', { default: 'Pod' }),
  priorityClassName: field(6, string, 'The class whose priority the group has.'),
  priority: pointer(7, int32, 'The priority: the higher, the more important.'),
});
export type PodGroupSpec = Infer<typeof PodGroupSpec>;

const PodGroupResourceClaimStatus = object(
  'io.k8s.api.scheduling.v1alpha2.PodGroupResourceClaimStatus',
  'The claim that was made from a template.',
  {
    name: required(1, string, 'The name in spec.resourceClaims.'),
    resourceClaimName: pointer(2, string, 'The claim; absent when none was needed.'),
  },
);

export const PodGroupStatus = object('io.k8s.api.scheduling.v1alpha2.PodGroupStatus', 'What became of the group.', {
  conditions: field(1, mapListOf(Condition, 'type'), 'PodGroupScheduled, DisruptionTarget.', { merge: 'type' }),
  resourceClaimStatuses: field(2, mapListOf(PodGroupResourceClaimStatus, 'name'), 'Claims made from templates.', {
    merge: 'name',
    retainKeys: true,
  }),
});
export type PodGroupStatus = Infer<typeof PodGroupStatus>;

export const PodGroup = kind(
  {
    name: 'io.k8s.api.scheduling.v1alpha2.PodGroup',
    group: 'scheduling.k8s.io',
    version: 'v1alpha2',
    kind: 'PodGroup',
    resource: 'podgroups',
    namespaced: true,
    lifecycle: { introduced: '1.36', deprecated: '1.39', removed: '1.42' },
    featureGate: 'GenericWorkload',
  },
  'Pods that are scheduled together.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, PodGroupSpec, 'How the pods are scheduled.'),
    status: always(3, PodGroupStatus, 'What became of the group.'),
  },
);
export type PodGroup = Infer<typeof PodGroup>;
