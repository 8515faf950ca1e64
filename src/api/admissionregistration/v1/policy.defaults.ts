import { fillUnset, mapField } from '../../defaulting.ts';
import type { MatchResources } from './match-resources.ts';
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicySpec } from './mutating-admission-policy.ts';
import type { MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec } from './mutating-admission-policy-binding.ts';
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec } from './validating-admission-policy.ts';
import type { ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec } from './validating-admission-policy-binding.ts';
import { defaultRules } from './webhook.defaults.ts';

export function defaultValidatingAdmissionPolicy(policy: ValidatingAdmissionPolicy): ValidatingAdmissionPolicy {
  const spec = fillUnset((policy.spec ?? {}) as ValidatingAdmissionPolicySpec, { failurePolicy: 'Fail' });
  const matched = mapField(spec, 'matchConstraints', defaultMatchResources);
  return matched === policy.spec ? policy : { ...policy, spec: matched };
}

export function defaultMutatingAdmissionPolicy(policy: MutatingAdmissionPolicy): MutatingAdmissionPolicy {
  const spec = fillUnset((policy.spec ?? {}) as MutatingAdmissionPolicySpec, { failurePolicy: 'Fail' });
  const matched = mapField(spec, 'matchConstraints', defaultMatchResources);
  return matched === policy.spec ? policy : { ...policy, spec: matched };
}

export function defaultValidatingAdmissionPolicyBinding(binding: ValidatingAdmissionPolicyBinding): ValidatingAdmissionPolicyBinding {
  return mapField(binding, 'spec', (spec: ValidatingAdmissionPolicyBindingSpec) => mapField(spec, 'matchResources', defaultMatchResources));
}

export function defaultMutatingAdmissionPolicyBinding(binding: MutatingAdmissionPolicyBinding): MutatingAdmissionPolicyBinding {
  return mapField(binding, 'spec', (spec: MutatingAdmissionPolicyBindingSpec) => mapField(spec, 'matchResources', defaultMatchResources));
}

function defaultMatchResources(match: MatchResources): MatchResources {
  const filled = fillUnset(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  return mapField(mapField(filled, 'resourceRules', defaultRules), 'excludeResourceRules', defaultRules);
}
