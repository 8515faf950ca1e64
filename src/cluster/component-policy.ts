import type { rbac } from '#api';
import type { RbacPolicy } from '#apiserver';

/** Lets the users of components do what their rules allow: a cluster role and its binding for each, with the user's name. */
export function componentPolicy(rulesByUser: Readonly<Record<string, readonly rbac.PolicyRule[]>>): RbacPolicy {
  return {
    clusterRoles: Object.entries(rulesByUser).map(([name, rules]) => ({ metadata: { name }, rules })),
    clusterRoleBindings: Object.keys(rulesByUser).map((name) => ({ metadata: { name }, ...bindingToUser('ClusterRole', name) })),
    roles: [],
    roleBindings: [],
  };
}

/** Binds the role of the user's name to the user. */
export function bindingToUser(kind: 'ClusterRole' | 'Role', name: string) {
  const apiGroup = 'rbac.authorization.k8s.io';
  return { roleRef: { apiGroup, kind, name }, subjects: [{ apiGroup, kind: 'User', name }] };
}
