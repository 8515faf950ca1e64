import type { admissionregistration } from '#api';
import { checkTypes } from './check-types.ts';
import type { CheckedKind } from './checked-kinds.ts';

type Policy = admissionregistration.ValidatingAdmissionPolicy;

/** The status with the type-checking warnings; undefined if the policy was checked in this generation. */
export function reconcilePolicy(
  policy: Policy | undefined,
  kinds: () => readonly CheckedKind[],
): Pick<NonNullable<Policy['status']>, 'observedGeneration' | 'typeChecking'> | undefined {
  const observedGeneration = policy?.metadata.generation ?? 0;
  if (policy === undefined || observedGeneration <= (policy.status?.observedGeneration ?? 0)) return undefined;
  const expressionWarnings = checkTypes(policy, kinds());
  return { observedGeneration, typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings } };
}
