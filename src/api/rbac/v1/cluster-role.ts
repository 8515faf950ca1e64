import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, object, pointer } from '../../schema.ts';
import { PolicyRule } from './policy-rule.ts';

export const AggregationRule = object('io.k8s.api.rbac.v1.AggregationRule', 'Which cluster roles are collected.', {
  clusterRoleSelectors: field(1, listOf(LabelSelector), 'Labels of the cluster roles; one selector must match.'),
});
export type AggregationRule = Infer<typeof AggregationRule>;

export const ClusterRole = kind(
  {
    name: 'io.k8s.api.rbac.v1.ClusterRole',
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRole',
    resource: 'clusterroles',
    namespaced: false,
  },
  'A set of permissions, for the whole cluster or for use in any namespace.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    rules: always(2, listOf(PolicyRule), 'The permissions.'),
    aggregationRule: pointer(3, AggregationRule, "Cluster roles whose permissions are collected here; rules are then not the user's own."),
  },
);
export type ClusterRole = Infer<typeof ClusterRole>;
