import type { KindBehaviour } from '../../behaviour.ts';
import { ClusterRole } from './cluster-role.ts';
import { validateClusterRole, validateClusterRoleUpdate } from './role.validation.ts';

export const clusterRoleBehaviour: KindBehaviour<ClusterRole> = {
  kind: ClusterRole,
  validate: (role) => validateClusterRole(role),
  validateUpdate: validateClusterRoleUpdate,
};
