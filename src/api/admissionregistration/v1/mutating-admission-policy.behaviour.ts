import type { KindBehaviour } from '../../behaviour.ts';
import { MutatingAdmissionPolicy } from './mutating-admission-policy.ts';
import { validateMutatingAdmissionPolicy, validateMutatingAdmissionPolicyUpdate } from './mutating-admission-policy.validation.ts';
import { defaultMutatingAdmissionPolicy } from './policy.defaults.ts';
import { mutatingAdmissionPolicyTable } from './policy.table.ts';
import { staticNameWarnings } from './static-name.ts';

export const mutatingAdmissionPolicyBehaviour: KindBehaviour<MutatingAdmissionPolicy> = {
  kind: MutatingAdmissionPolicy,
  defaults: defaultMutatingAdmissionPolicy,
  validate: validateMutatingAdmissionPolicy,
  validateUpdate: validateMutatingAdmissionPolicyUpdate,
  warnings: (object) => staticNameWarnings(object),
  table: mutatingAdmissionPolicyTable,
};
