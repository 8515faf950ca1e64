import type { KindBehaviour } from '../../behaviour.ts';
import { defaultBinding } from './binding.defaults.ts';
import { bindingTable } from './binding.table.ts';
import { validateRoleBinding, validateRoleBindingUpdate } from './binding.validation.ts';
import { RoleBinding } from './role-binding.ts';

export const roleBindingBehaviour: KindBehaviour<RoleBinding> = {
  kind: RoleBinding,
  defaults: defaultBinding,
  validate: validateRoleBinding,
  validateUpdate: validateRoleBindingUpdate,
  table: bindingTable,
};
