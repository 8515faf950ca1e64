import { rbac } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** PUT creates missing roles and bindings. Escalation is checked by admission. */
export const clusterRoleBindingsStrategy: ResourceStrategy<rbac.ClusterRoleBinding> = {
  ...rbac.clusterRoleBindingBehaviour,
  allowCreateOnUpdate: true,
};
export const clusterRolesStrategy: ResourceStrategy<rbac.ClusterRole> = { ...rbac.clusterRoleBehaviour, allowCreateOnUpdate: true };
export const roleBindingsStrategy: ResourceStrategy<rbac.RoleBinding> = { ...rbac.roleBindingBehaviour, allowCreateOnUpdate: true };
export const rolesStrategy: ResourceStrategy<rbac.Role> = { ...rbac.roleBehaviour, allowCreateOnUpdate: true };
