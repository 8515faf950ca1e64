import type { KindBehaviour } from '../../behaviour.ts';
import { defaultValidatingAdmissionPolicyBinding } from './policy.defaults.ts';
import { policyBindingTable } from './policy.table.ts';
import { validateValidatingAdmissionPolicyBinding, validateValidatingAdmissionPolicyBindingUpdate } from './policy-binding.validation.ts';
import { staticNameWarnings } from './static-name.ts';
import { ValidatingAdmissionPolicyBinding } from './validating-admission-policy-binding.ts';

export const validatingAdmissionPolicyBindingBehaviour: KindBehaviour<ValidatingAdmissionPolicyBinding> = {
  kind: ValidatingAdmissionPolicyBinding,
  defaults: defaultValidatingAdmissionPolicyBinding,
  validate: validateValidatingAdmissionPolicyBinding,
  validateUpdate: validateValidatingAdmissionPolicyBindingUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: policyBindingTable,
};
