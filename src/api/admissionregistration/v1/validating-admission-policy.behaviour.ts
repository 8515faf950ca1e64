import type { KindBehaviour } from '../../behaviour.ts';
import { defaultValidatingAdmissionPolicy } from './policy.defaults.ts';
import { validatingAdmissionPolicyTable } from './policy.table.ts';
import { staticNameWarnings } from './static-name.ts';
import { ValidatingAdmissionPolicy } from './validating-admission-policy.ts';
import {
  validateValidatingAdmissionPolicy,
  validateValidatingAdmissionPolicyStatusUpdate,
  validateValidatingAdmissionPolicyUpdate,
} from './validating-admission-policy.validation.ts';

export const validatingAdmissionPolicyBehaviour: KindBehaviour<ValidatingAdmissionPolicy> = {
  kind: ValidatingAdmissionPolicy,
  defaults: defaultValidatingAdmissionPolicy,
  validate: validateValidatingAdmissionPolicy,
  validateUpdate: validateValidatingAdmissionPolicyUpdate,
  validateStatusUpdate: validateValidatingAdmissionPolicyStatusUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: validatingAdmissionPolicyTable,
};
