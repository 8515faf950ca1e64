import { FieldError, itemErrors, nameIsDnsSubdomain, Path, Quantity } from '#machinery';
import { goStruct } from '../../../go-struct.ts';
import { FIELD_IS_IMMUTABLE, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import type { ResourceList } from '../resource-list/resource-list.ts';
import { isStandardQuotaResource } from '../resource-list/resource-name.ts';
import { validateQuotaResourceName, validateResourceAmount } from '../resource-list/resource-name.validation.ts';
import {
  type ResourceQuota,
  type ResourceQuotaSpec,
  type ResourceQuotaStatus,
  type ScopedResourceSelectorRequirement,
  ScopeSelector,
} from './resource-quota.ts';

const SCOPES: readonly string[] = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'VolumeAttributesClass',
  'CrossNamespacePodAffinity',
];
const EXISTS_ONLY: readonly string[] = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const CONFLICTING: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const POD_RESOURCES: readonly string[] = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const SCOPED_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Terminating', POD_RESOURCES],
  ['NotTerminating', POD_RESOURCES],
  ['NotBestEffort', POD_RESOURCES],
  ['PriorityClass', POD_RESOURCES],
  ['CrossNamespacePodAffinity', POD_RESOURCES],
  ['BestEffort', ['pods']],
  ['VolumeAttributesClass', ['persistentvolumeclaims', 'requests.storage']],
]);
const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateResourceQuota(quota: ResourceQuota): FieldError[] {
  return [...validateObjectMeta(quota.metadata, META), ...validateSpec(quota.spec ?? {}), ...validateStatus(quota.status ?? {})];
}

export function validateResourceQuotaUpdate(quota: ResourceQuota, old: ResourceQuota): FieldError[] {
  const errors = [...validateObjectMetaUpdate(quota.metadata, old.metadata), ...validateSpec(quota.spec ?? {})];
  const scopes = new Set(quota.spec?.scopes);
  const before = new Set(old.spec?.scopes);
  if (scopes.size === before.size && [...scopes].every((scope) => before.has(scope))) return errors;
  return [...errors, FieldError.invalid(SPEC.child('scopes'), quota.spec?.scopes ?? null, FIELD_IS_IMMUTABLE)];
}

export function validateResourceQuotaStatusUpdate(quota: ResourceQuota, old: ResourceQuota): FieldError[] {
  const errors = validateObjectMetaUpdate(quota.metadata, old.metadata);
  return [...errors, ...validateStatus(quota.status ?? {})];
}

function validateSpec(spec: ResourceQuotaSpec): FieldError[] {
  return [...validateAmounts(SPEC.child('hard'), spec.hard), ...validateScopes(spec), ...validateScopeSelector(spec)];
}

function validateStatus(status: ResourceQuotaStatus): FieldError[] {
  return [...validateAmounts(STATUS.child('hard'), status.hard), ...validateAmounts(STATUS.child('used'), status.used)];
}

function validateAmounts(path: Path, list: ResourceList | undefined): FieldError[] {
  return itemErrors(Object.entries(list ?? {}), ([name, amount]) => [
    ...validateQuotaResourceName(path.key(name), name),
    ...validateResourceAmount(path.key(name), name, amount),
  ]);
}

/** The limited resources to which a scope does not apply. */
function unscopedBy(hard: ResourceList | undefined): (scope: string) => readonly string[] {
  const byScope = new Map<string, readonly string[]>();
  return (scope) => {
    const fitting = SCOPED_RESOURCES.get(scope);
    if (!fitting) return [];
    const names = byScope.get(scope) ?? Object.keys(hard ?? {}).filter((name) => isStandardQuotaResource(name) && !fitting.includes(name));
    byScope.set(scope, names);
    return names;
  };
}

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec): FieldError[] {
  const path = SPEC.child('scopes');
  const unscoped = unscopedBy(hard);
  const errors = itemErrors(scopes, (scope) => [
    ...(SCOPES.includes(scope) ? [] : [FieldError.invalid(path, scopes, 'unsupported scope')]),
    ...unscoped(scope).map(() => FieldError.invalid(path, scopes, 'unsupported scope applied to resource')),
  ]);
  return [...errors, ...conflicts(scopes).map(() => FieldError.invalid(path, scopes, 'conflicting scopes'))];
}

function conflicts(scopes: readonly string[]): readonly unknown[] {
  return CONFLICTING.filter(([first, second]) => scopes.includes(first) && scopes.includes(second));
}

function validateScopeSelector({ scopeSelector, scopes, hard }: ResourceQuotaSpec): FieldError[] {
  if (!scopeSelector) return [];
  const path = SPEC.child('scopeSelector', 'matchExpressions');
  const requirements = scopeSelector.matchExpressions ?? [];
  const unscoped = unscopedBy(hard);
  let printed: ReturnType<typeof goStruct> | undefined;
  const errors = itemErrors(requirements, (requirement) => {
    const names = unscoped(requirement.scopeName);
    if (names.length > 0) printed ??= goStruct(ScopeSelector, scopeSelector);
    return [
      ...(SCOPES.includes(requirement.scopeName)
        ? []
        : [FieldError.invalid(path.child('scopeName'), requirement.scopeName ?? '', 'unsupported scope')]),
      ...names.map(() => FieldError.invalid(path, printed, 'unsupported scope applied to resource')),
      ...validateRequirement(path, requirement),
    ];
  });
  const names = requirements.map(({ scopeName }) => scopeName);
  return [...errors, ...conflicts(names).map(() => FieldError.invalid(path, scopes ?? null, 'conflicting scopes'))];
}

function validateRequirement(path: Path, { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement): FieldError[] {
  const errors: FieldError[] = [];
  if (EXISTS_ONLY.includes(scopeName) && operator !== 'Exists') {
    const list =
      'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';
    errors.push(FieldError.invalid(path.child('operator'), operator ?? '', `must be 'Exists' when scope is any of ${list}`));
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return errors;
      return [
        ...errors,
        FieldError.required(path.child('values'), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      ];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return errors;
      return [
        ...errors,
        FieldError.invalid(
          path.child('values'),
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      ];
    default:
      return [...errors, FieldError.invalid(path.child('operator'), operator ?? '', 'not a valid selector operator')];
  }
}

/** Resources whose requests may exceed their limits. */
export function resourceQuotaWarnings({ spec }: ResourceQuota, old?: ResourceQuota): readonly string[] {
  const hard = spec?.hard;
  if (!hard || old) return [];
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const isCompute = resource === 'cpu' || resource === 'memory';
    const request = `requests.${resource}` in hard || !isCompute ? `requests.${resource}` : resource;
    const limit = `limits.${resource}`;
    const requested = hard[request];
    const limited = hard[limit];
    if (!requested || !limited || Quantity.parse(requested).compare(Quantity.parse(limited)) <= 0) return [];
    return [`ResourceQuota ${request} (${requested}) should be less than ${limit} (${limited})`];
  });
}
