import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { clusterRoleBindingsStrategy, clusterRolesStrategy, roleBindingsStrategy, rolesStrategy } from './roles.ts';

export const RBAC: RegistryGroup = registryGroup([clusterRoleBindingsStrategy, clusterRolesStrategy, roleBindingsStrategy, rolesStrategy]);
