import { checkDns1035Label, checkDns1123Subdomain, FieldError, type Path } from '#machinery';
import { joinedInvalidError, requiredName, sameValue, supportedValue } from '../../field-checks.ts';
import { validateMatchConditions } from './expression.validation.ts';
import type { MatchCondition } from './match-condition.ts';
import type { MatchResources } from './match-resources.ts';
import type { ParamKind } from './param-kind.ts';
import { FAILURE_POLICIES, validateMatchResources } from './rule.validation.ts';

/** The common part of both kinds of policies: match constraints, parameters and failure policy. */
interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
}

export function validateFailurePolicy(path: Path, policy: string | undefined): readonly FieldError[] {
  const at = path.child('failurePolicy');
  return policy === undefined ? [FieldError.required(at)] : supportedValue(at, policy, FAILURE_POLICIES);
}

export function validateMatchConstraints(path: Path, constraints: MatchResources | undefined): FieldError[] {
  const at = path.child('matchConstraints');
  if (!constraints) return [FieldError.required(at)];
  const errors = validateMatchResources(at, constraints);
  return constraints.resourceRules?.length ? errors : [...errors, FieldError.required(at.child('resourceRules'))];
}

/** Stored conditions are not compiled again unless something they depend on changes. */
export function validatePolicyConditions(path: Path, spec: PolicySpec, old?: PolicySpec): FieldError[] {
  const isOld = old !== undefined && sameValue(spec.paramKind, old.paramKind) && sameValue(spec.matchConditions, old.matchConditions);
  return isOld ? [] : validateMatchConditions(path.child('matchConditions'), spec.matchConditions ?? [], spec.paramKind !== undefined);
}

export function validateParamKind(path: Path, { apiVersion = '', kind }: ParamKind): FieldError[] {
  return [...validateApiVersion(path.child('apiVersion'), apiVersion), ...validateKind(path.child('kind'), kind)];
}

function validateKind(path: Path, kind: string | undefined): readonly FieldError[] {
  return requiredName(path, kind, (name) => {
    const problems = checkDns1035Label(name.toLowerCase());
    return problems.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${problems.join(',')}`];
  });
}

function validateApiVersion(path: Path, apiVersion: string): FieldError[] {
  if (apiVersion === '') return [FieldError.required(path)];
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [FieldError.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const version = apiVersion === '/' ? '' : (parts.at(-1) ?? '');
  const group = parts.length === 2 && apiVersion !== '/' ? (parts[0] ?? '') : '';
  const errors = group === '' ? [] : joinedInvalidError(path, group, checkDns1123Subdomain(group));
  if (version === '') return [...errors, FieldError.invalid(path, apiVersion, 'version must be specified')];
  return [...errors, ...joinedInvalidError(path, version, checkDns1035Label(version))];
}
