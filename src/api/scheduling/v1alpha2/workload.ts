import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, mapListOf, named, nullable, object, pointer, required, string } from '../../schema.ts';
import { PodGroupResourceClaim, PodGroupSchedulingConstraints, PodGroupSchedulingPolicy } from './pod-group-policy.ts';

export const TypedLocalObjectReference = object(
  'io.k8s.api.scheduling.v1alpha2.TypedLocalObjectReference',
  'An object in the same namespace.',
  {
    apiGroup: field(1, string, 'Its group; empty for the core group.'),
    kind: required(2, string, 'Its kind.'),
    name: required(3, string, 'Its name.'),
  },
);
export type TypedLocalObjectReference = Infer<typeof TypedLocalObjectReference>;

export const PodGroupTemplate = object(
  'io.k8s.api.scheduling.v1alpha2.PodGroupTemplate',
  'A group of pods that the workload consists of.',
  {
    name: required(1, string, 'Its name in the workload.'),
    schedulingPolicy: required(2, PodGroupSchedulingPolicy, 'Together, or one by one.'),
    schedulingConstraints: nullable(3, PodGroupSchedulingConstraints, 'Where the pods may be placed.'),
    resourceClaims: field(4, mapListOf(PodGroupResourceClaim, 'name'), 'Claims that the pods share.', { merge: 'name', retainKeys: true }),
    disruptionMode: pointer(5, named('v1alpha2.DisruptionMode'), 'What is evicted together: Pod or PodGroup.'),
    priorityClassName: field(6, string, 'The class whose priority the group has.'),
    priority: pointer(7, int32, 'The priority: the higher, the more important.'),
  },
);
export type PodGroupTemplate = Infer<typeof PodGroupTemplate>;

export const WorkloadSpec = object('io.k8s.api.scheduling.v1alpha2.WorkloadSpec', 'The groups of pods of a workload.', {
  controllerRef: pointer(1, TypedLocalObjectReference, 'The object that manages the workload. Immutable.'),
  podGroupTemplates: required(2, mapListOf(PodGroupTemplate, 'name'), 'One to eight groups of pods. Cannot be changed.'),
});
export type WorkloadSpec = Infer<typeof WorkloadSpec>;

export const Workload = kind(
  {
    name: 'io.k8s.api.scheduling.v1alpha2.Workload',
    group: 'scheduling.k8s.io',
    version: 'v1alpha2',
    kind: 'Workload',
    resource: 'workloads',
    namespaced: true,
    lifecycle: { introduced: '1.36', deprecated: '1.39', removed: '1.42' },
    featureGate: 'GenericWorkload',
  },
  'How the pods of an application are scheduled, group by group.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    spec: required(2, WorkloadSpec, 'The groups.'),
  },
);
export type Workload = Infer<typeof Workload>;
