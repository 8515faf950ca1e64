import { LabelSelector } from '../../meta/v1/label-selector.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, kind, listOf, object, pointer } from '../../schema.ts';
import { PolicyRule } from './policy-rule.ts';

export const AggregationRule = object('io.k8s.api.rbac.v1.AggregationRule', '', {
  clusterRoleSelectors: field(1, listOf(LabelSelector)),
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
  '',
  {
    metadata: always(1, ObjectMeta),
    rules: always(2, listOf(PolicyRule)),
    aggregationRule: pointer(3, AggregationRule),
  },
);
export type ClusterRole = Infer<typeof ClusterRole>;
