import type { KindBehaviour } from '../../behaviour.ts';
import { Role } from './role.ts';
import { validateRole, validateRoleUpdate } from './role.validation.ts';

export const roleBehaviour: KindBehaviour<Role> = {
  kind: Role,
  validate: validateRole,
  validateUpdate: validateRoleUpdate,
};
