import { rbac } from '#api';
import type { ResourceStrategy } from './strategy.ts';

/** PUT creates roles and bindings that are not there. Who may do so is for admission to say: a role cannot grant more than its author has. */
export const clusterRoleBindingsStrategy: ResourceStrategy<rbac.ClusterRoleBinding> = {
  ...rbac.clusterRoleBindingBehaviour,
  allowCreateOnUpdate: true,
};
export const clusterRolesStrategy: ResourceStrategy<rbac.ClusterRole> = { ...rbac.clusterRoleBehaviour, allowCreateOnUpdate: true };
export const roleBindingsStrategy: ResourceStrategy<rbac.RoleBinding> = { ...rbac.roleBindingBehaviour, allowCreateOnUpdate: true };
export const rolesStrategy: ResourceStrategy<rbac.Role> = { ...rbac.roleBehaviour, allowCreateOnUpdate: true };

export const RBAC_STRATEGIES = [clusterRoleBindingsStrategy, clusterRolesStrategy, roleBindingsStrategy, rolesStrategy] as const;
