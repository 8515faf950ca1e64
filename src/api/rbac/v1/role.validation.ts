import { FieldError, itemErrors, Path } from '#machinery';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { nameIsRbacName } from './binding.validation.ts';
import type { ClusterRole } from './cluster-role.ts';
import type { PolicyRule } from './policy-rule.ts';
import type { Role } from './role.ts';

const RULES = Path.of('rules');
const SELECTORS = Path.of('aggregationRule', 'clusterRoleSelectors');

export function validateRole({ metadata, rules }: Role): FieldError[] {
  return [...validateObjectMeta(metadata, { namespaced: true, nameRule: nameIsRbacName }), ...validateRules(rules ?? [], true)];
}

export function validateRoleUpdate(role: Role, old: Role): FieldError[] {
  return [...validateRole(role), ...validateObjectMetaUpdate(role.metadata, old.metadata)];
}

export function validateClusterRole(role: ClusterRole, allowInvalidValues = false): FieldError[] {
  return [
    ...validateObjectMeta(role.metadata, { namespaced: false, nameRule: nameIsRbacName }),
    ...validateRules(role.rules ?? [], false),
    ...validateAggregation(role, allowInvalidValues),
  ];
}

export function validateClusterRoleUpdate(role: ClusterRole, old: ClusterRole): FieldError[] {
  const selectors = old.aggregationRule?.clusterRoleSelectors ?? [];
  const hadInvalid = selectors.some((selector) => validateLabelSelector(selector, SELECTORS).length > 0);
  return [...validateClusterRole(role, hadInvalid), ...validateObjectMetaUpdate(role.metadata, old.metadata)];
}

function validateRules(rules: readonly PolicyRule[], namespaced: boolean): FieldError[] {
  return itemErrors(rules, (rule, i) => validateRule(RULES.index(i), rule, namespaced));
}

/** A rule has resources or URLs; namespaced rules have no URLs. */
function validateRule(path: Path, rule: PolicyRule, namespaced: boolean): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors = rule.verbs?.length ? [] : [FieldError.required(path.child('verbs'), 'verbs must contain at least one value')];
  if (nonResourceURLs.length > 0) {
    const addError = (detail: string) => errors.push(FieldError.invalid(path.child('nonResourceURLs'), nonResourceURLs, detail));
    if (namespaced) addError('namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      addError('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (apiGroups.length === 0)
    errors.push(FieldError.required(path.child('apiGroups'), 'resource rules must supply at least one api group'));
  if (resources.length === 0) errors.push(FieldError.required(path.child('resources'), 'resource rules must supply at least one resource'));
  return errors;
}

function validateAggregation({ aggregationRule }: ClusterRole, allowInvalidValues: boolean): FieldError[] {
  if (!aggregationRule) return [];
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    return [FieldError.required(SELECTORS, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return itemErrors(selectors, (selector, i) => {
    const errors = validateLabelSelector(selector, SELECTORS.index(i), { allowInvalidValues });
    // An invalid selector is printed as empty.
    return errors.length === 0 ? errors : [...errors, FieldError.invalid(SELECTORS.index(i), null, 'invalid label selector.')];
  });
}
