import type { KindBehaviour } from '../../behaviour.ts';
import { defaultBinding } from './binding.defaults.ts';
import { bindingTable } from './binding.table.ts';
import { validateClusterRoleBinding, validateClusterRoleBindingUpdate } from './binding.validation.ts';
import { ClusterRoleBinding } from './cluster-role-binding.ts';

export const clusterRoleBindingBehaviour: KindBehaviour<ClusterRoleBinding> = {
  kind: ClusterRoleBinding,
  defaults: defaultBinding,
  validate: validateClusterRoleBinding,
  validateUpdate: validateClusterRoleBindingUpdate,
  table: bindingTable,
};
