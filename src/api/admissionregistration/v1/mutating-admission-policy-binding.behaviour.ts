import type { KindBehaviour } from '../../behaviour.ts';
import { MutatingAdmissionPolicyBinding } from './mutating-admission-policy-binding.ts';
import { defaultMutatingAdmissionPolicyBinding } from './policy.defaults.ts';
import { policyBindingTable } from './policy.table.ts';
import { validateMutatingAdmissionPolicyBinding, validateMutatingAdmissionPolicyBindingUpdate } from './policy-binding.validation.ts';
import { staticNameWarnings } from './static-name.ts';

export const mutatingAdmissionPolicyBindingBehaviour: KindBehaviour<MutatingAdmissionPolicyBinding> = {
  kind: MutatingAdmissionPolicyBinding,
  defaults: defaultMutatingAdmissionPolicyBinding,
  validate: validateMutatingAdmissionPolicyBinding,
  validateUpdate: validateMutatingAdmissionPolicyBindingUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: policyBindingTable,
};
