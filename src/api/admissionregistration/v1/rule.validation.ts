import { checkPathSegmentName, FieldError, itemErrors, type Path } from '#machinery';
import { invalidErrors, markDuplicates, supportedValue } from '../../field-checks.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import type { MatchResources, NamedRuleWithOperations } from './match-resources.ts';
import type { RuleWithOperations } from './rule-with-operations.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
export const MATCH_POLICIES = ['Equivalent', 'Exact'];
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];

/** The requests that a webhook or a policy matches. */
export function validateRule(path: Path, rule: RuleWithOperations): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...validateList(path.child('operations'), operations, 'operations'),
    ...itemErrors(operations, (operation, i) => supportedValue(path.child('operations').index(i), operation, OPERATIONS)),
    ...validateList(path.child('apiGroups'), apiGroups, 'API groups'),
    ...validateList(path.child('apiVersions'), apiVersions, 'API versions'),
    ...itemErrors(apiVersions, (version, i) => (version === '' ? [FieldError.required(path.child('apiVersions').index(i))] : [])),
    ...validateResources(path.child('resources'), resources),
    ...(scope === undefined ? [] : supportedValue(path.child('scope'), scope, SCOPES)),
  ];
}

/** A list of names, or `*` alone. */
function validateList(path: Path, list: readonly string[], noun: string): FieldError[] {
  if (list.length === 0) return [FieldError.required(path)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [FieldError.invalid(path, list, `if '*' is present, must not specify other ${noun}`)];
}

// Resources and subresources: `x`, `x/y`, `x/*`, `*` and `*/y`. None may include another.
function validateResources(path: Path, resources: readonly string[]): FieldError[] {
  const errors = resources.length === 0 ? [FieldError.required(path)] : [];
  const allOf = new Set<string>();
  const ofAll = new Set<string>();
  let lastIsPlain = false;
  resources.forEach((resource, i) => {
    if (resource === '') errors.push(FieldError.required(path.index(i)));
    const slash = resource.indexOf('/');
    if (slash < 0) {
      if (resource !== '') lastIsPlain = resource !== '*';
      return;
    }
    const name = resource.slice(0, slash);
    const sub = resource.slice(slash + 1);
    const addError = (wider: string) =>
      errors.push(FieldError.invalid(path.index(i), resource, `if '${wider}' is present, must not specify ${resource}`));
    if (allOf.has(name)) addError(`${name}/*`);
    if (ofAll.has(sub)) addError(`*/${sub}`);
    if (sub === '*') allOf.add(name);
    if (name === '*') ofAll.add(sub);
  });
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(FieldError.invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (lastIsPlain && resources.includes('*')) {
    errors.push(FieldError.invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}

function validateNamedRule(path: Path, rule: NamedRuleWithOperations): FieldError[] {
  const names = rule.resourceNames ?? [];
  const at = path.child('resourceNames');
  const repeated = markDuplicates(names);
  return [
    ...itemErrors(names, (name, i) => [
      ...invalidErrors(at.index(i), name, checkPathSegmentName(name)),
      ...(repeated[i] ? [FieldError.duplicate(at.index(i), name)] : []),
    ]),
    ...validateRule(path, rule),
  ];
}

export function validateMatchResources(path: Path, match: MatchResources): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  const selector = (field: 'namespaceSelector' | 'objectSelector') => {
    const value = field === 'namespaceSelector' ? namespaceSelector : objectSelector;
    return value ? validateLabelSelector(value, path.child(field)) : [FieldError.required(path.child(field))];
  };
  const policy = path.child('matchPolicy');
  return [
    ...(matchPolicy === undefined ? [FieldError.required(policy)] : supportedValue(policy, matchPolicy, MATCH_POLICIES)),
    ...selector('namespaceSelector'),
    ...selector('objectSelector'),
    ...itemErrors(resourceRules, (rule, i) => validateNamedRule(path.child('resourceRules').index(i), rule)),
    ...itemErrors(excludeResourceRules, (rule, i) => validateNamedRule(path.child('excludeResourceRules').index(i), rule)),
  ];
}

const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Deletions cannot be mutated. */
export function validateMutableOperations(path: Path, { resourceRules = [] }: MatchResources): FieldError[] {
  const at = path.child('resourceRules', 'operations');
  return resourceRules.flatMap(({ operations = [] }) =>
    operations
      .filter((operation) => !MUTATING_OPERATIONS.includes(operation))
      .map((operation) => FieldError.notSupported(at, operation, MUTATING_OPERATIONS)),
  );
}
