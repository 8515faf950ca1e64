import { pushAll } from '#base';
import { checkPathSegmentName, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors, markDuplicates, requiredName, supportedValue } from '../../field-checks.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import type { MutatingAdmissionPolicyBinding } from './mutating-admission-policy-binding.ts';
import type { ParamRef } from './param-ref.ts';
import { validateMatchResources, validateMutableOperations } from './rule.validation.ts';
import type { ValidatingAdmissionPolicyBinding } from './validating-admission-policy-binding.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const MISSING_ACTIONS = ['Deny', 'Allow'];
const SPEC = Path.of('spec');
const META = { namespaced: false, nameRule: nameIsDnsSubdomain, anyFinalizer: true };

export function validateValidatingAdmissionPolicyBinding(binding: ValidatingAdmissionPolicyBinding): FieldError[] {
  return [...validateBinding(binding), ...validateActions(binding.spec?.validationActions ?? [])];
}

export function validateMutatingAdmissionPolicyBinding(binding: MutatingAdmissionPolicyBinding): FieldError[] {
  const match = binding.spec?.matchResources;
  return [...validateBinding(binding), ...(match ? validateMutableOperations(SPEC.child('matchResources'), match) : [])];
}

export const validateValidatingAdmissionPolicyBindingUpdate = (binding: ValidatingAdmissionPolicyBinding) =>
  validateValidatingAdmissionPolicyBinding(binding);
export const validateMutatingAdmissionPolicyBindingUpdate = (binding: MutatingAdmissionPolicyBinding) =>
  validateMutatingAdmissionPolicyBinding(binding);

function validateBinding({ metadata, spec }: MutatingAdmissionPolicyBinding): FieldError[] {
  const { policyName, paramRef, matchResources } = spec ?? {};
  return [
    ...validateObjectMeta(metadata, META),
    ...requiredName(SPEC.child('policyName'), policyName, (name) => nameIsDnsSubdomain(name, false)),
    ...(paramRef ? validateParamRef(SPEC.child('paramRef'), paramRef) : []),
    ...(matchResources ? validateMatchResources(SPEC.child('matchResources'), matchResources) : []),
  ];
}

function validateParamRef(path: Path, { name, selector, parameterNotFoundAction: action }: ParamRef): FieldError[] {
  const exclusive = 'name and selector are mutually exclusive';
  const errors: FieldError[] = [];
  if (name) {
    pushAll(errors, invalidErrors(path.child('name'), name, checkPathSegmentName(name)));
    if (selector) errors.push(FieldError.forbidden(path.child('name'), exclusive));
  }
  if (selector) {
    pushAll(errors, validateLabelSelector(selector, path.child('selector')));
    if (name) errors.push(FieldError.forbidden(path.child('selector'), exclusive));
  }
  if (!name && !selector) errors.push(FieldError.required(path, 'one of name or selector must be specified'));
  const at = path.child('parameterNotFoundAction');
  return [...errors, ...(action ? supportedValue(at, action, MISSING_ACTIONS) : [FieldError.required(at)])];
}

function validateActions(actions: readonly string[]): FieldError[] {
  const path = SPEC.child('validationActions');
  const repeated = markDuplicates(actions);
  const errors = itemErrors(actions, (action, i) => [
    ...supportedValue(path.index(i), action, ACTIONS),
    ...(repeated[i] ? [FieldError.duplicate(path.index(i), action)] : []),
  ]);
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const detail = 'repeating the same validation failure information in the API response and headers serves no purpose';
    errors.push(FieldError.invalid(path, actions, `must not contain both Deny and Warn (${detail})`));
  }
  return actions.length === 0 ? [...errors, FieldError.required(path, 'at least one validation action is required')] : errors;
}
