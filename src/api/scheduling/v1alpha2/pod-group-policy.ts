import { field, type Infer, int32, listOf, object, pointer, required, string, union } from '../../schema.ts';

/** The common part of a workload's templates and the groups created from them. */
const BasicSchedulingPolicy = object(
  'io.k8s.api.scheduling.v1alpha2.BasicSchedulingPolicy',
  'Pods are scheduled one by one, as those without a group are.',
  {},
);

const GangSchedulingPolicy = object('io.k8s.api.scheduling.v1alpha2.GangSchedulingPolicy', 'Pods are scheduled together or not at all.', {
  minCount: required(1, int32, 'How many pods must fit at the same time; at least 1.'),
});

export const PodGroupSchedulingPolicy = union(
  object('io.k8s.api.scheduling.v1alpha2.PodGroupSchedulingPolicy', 'Exactly one of these.', {
    basic: pointer(1, BasicSchedulingPolicy, 'Pods are scheduled one by one.'),
    gang: pointer(2, GangSchedulingPolicy, 'Pods are scheduled together or not at all.'),
  }),
  { fields: ['basic', 'gang'] },
);
export type PodGroupSchedulingPolicy = Infer<typeof PodGroupSchedulingPolicy>;

const TopologyConstraint = object('io.k8s.api.scheduling.v1alpha2.TopologyConstraint', 'All pods go to one domain of a topology.', {
  key: required(1, string, 'The label of nodes whose value is the domain.'),
});

export const PodGroupSchedulingConstraints = object(
  'io.k8s.api.scheduling.v1alpha2.PodGroupSchedulingConstraints',
  'Where the pods of a group may be placed.',
  { topology: field(1, listOf(TopologyConstraint), 'Domains that all pods of the group share; at most one.') },
);
export type PodGroupSchedulingConstraints = Infer<typeof PodGroupSchedulingConstraints>;

export const PodGroupResourceClaim = object('io.k8s.api.scheduling.v1alpha2.PodGroupResourceClaim', 'A claim that the pods share.', {
  name: required(1, string, 'Its name in the group.'),
  resourceClaimName: pointer(2, string, 'A claim in the same namespace. Either this or a template.'),
  resourceClaimTemplateName: pointer(3, string, 'A template from which a claim is made for the group.'),
});
export type PodGroupResourceClaim = Infer<typeof PodGroupResourceClaim>;
