import { pushAll } from '#base';
import { checkDns1123Subdomain, FieldError, nameIsDnsSubdomain, Path, structural } from '#machinery';
import { immutable, requiredValue, sameValue } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import { hasRecognizedReviewVersion } from '../../webhook-client.validation.ts';
import { hasValidCABundle, validateConversion } from './custom-resource-conversion.validation.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from './custom-resource-definition.ts';
import { validateNames } from './custom-resource-definition-names.validation.ts';
import type { CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, JSONSchemaProps } from './custom-resource-definition-spec.ts';
import { type DefinitionRules, MAX_SELECTABLE_FIELDS, SPEC, validateShared, validateVersions } from './definition-versions.validation.ts';
import { type InternalDefinition, internalDefinition, schemasOf } from './internal-definition.ts';
import { listKeyErrors } from './json-schema-props.validation.ts';
import { schemaHas } from './schema-walk.ts';

const STATUS = Path.of('status');
const APPROVAL = 'api-approved.kubernetes.io';

const NEW_DEFINITION: DefinitionRules = {
  requireRecognizedVersion: true,
  requireValidCABundle: false,
  requireImmutableNames: false,
  requireOpenAPISchema: true,
  requireValidPropertyType: true,
  requireStructuralSchema: true,
  requirePrunedDefaults: true,
  requireAtomicSetType: true,
  requireMapListKeysMapSetValidation: true,
  suppressPerExpressionCost: false,
  unchangedVersions: new Set(),
  manySelectableFields: new Set(),
};

export function validateCustomResourceDefinition(definition: CustomResourceDefinition): FieldError[] {
  const { metadata, spec, status } = definition;
  const expected = `${spec.names.plural}.${spec.group}`;
  const nameRule = (name: string, prefix: boolean) =>
    name === expected
      ? nameIsDnsSubdomain(name, prefix)
      : [...nameIsDnsSubdomain(name, prefix), 'must be spec.names.plural+"."+spec.group'];
  return [
    ...validateObjectMeta(metadata, { namespaced: false, nameRule, anyFinalizer: true }),
    ...validateSpec(spec, NEW_DEFINITION),
    ...validateStatus(status, spec),
    ...validateApproval(definition, undefined),
    ...validatePreserveUnknown(spec, undefined),
  ];
}

export function validateCustomResourceDefinitionUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const { metadata, spec, status } = definition;
  const rules = rulesForUpdate(definition, old);
  return [
    ...validateObjectMetaUpdate(metadata, old.metadata, { anyFinalizer: true }),
    ...validateSpec(spec, rules),
    ...validateUnchanged(spec, old.spec, rules),
    ...validateStatus(status, spec),
    ...validateApproval(definition, old),
    ...validatePreserveUnknown(spec, old.spec),
  ];
}

export function validateCustomResourceDefinitionStatusUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const { metadata, status } = definition;
  return [
    ...validateObjectMetaUpdate(metadata, old.metadata, { anyFinalizer: true }),
    ...(status?.acceptedNames === undefined ? [] : validateNames(status.acceptedNames, STATUS.child('acceptedNames'))),
  ];
}

function rulesForUpdate({ spec }: CustomResourceDefinition, old: CustomResourceDefinition): DefinitionRules {
  const schemas = schemasOf(old.spec);
  const reviewVersions = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  return {
    requireRecognizedVersion: reviewVersions.length === 0 || hasRecognizedReviewVersion(reviewVersions),
    requireValidCABundle: isEstablished(old) && hasValidCABundle(old.spec.conversion),
    requireImmutableNames: isEstablished(old),
    requireOpenAPISchema: schemas.length === (old.spec.versions ?? []).length,
    requireValidPropertyType: !schemas.some((schema) => schemaHas(schema, hasInvalidType)),
    requireStructuralSchema: !schemas.some(isNonStructural),
    requirePrunedDefaults: !schemas.some((schema) => schemaHas(schema, hasUnprunedDefault)),
    requireAtomicSetType: !schemas.some((schema) => schemaHas(schema, isNonAtomicSet)),
    requireMapListKeysMapSetValidation: !schemas.some((schema) => schemaHas(schema, (node) => listKeyErrors(node, Path.none).length > 0)),
    suppressPerExpressionCost: false,
    unchangedVersions: unchangedVersions(spec, old.spec),
    manySelectableFields: manySelectableFields(spec, old.spec),
  };
}

export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Established' && value === 'True');
}

function hasInvalidType({ type = '' }: JSONSchemaProps): boolean {
  return type !== '' && !['array', 'boolean', 'integer', 'number', 'object', 'string'].includes(type);
}

function isNonStructural(schema: JSONSchemaProps): boolean {
  return structural.unsupportedKeyword(schema) !== undefined || structural.structuralErrors(Path.none, schema).length > 0;
}

function hasUnprunedDefault(schema: JSONSchemaProps): boolean {
  const value = schema.default as Parameters<typeof structural.pruneValue>[1] | undefined;
  return value !== undefined && value !== null && !sameValue(structural.pruneValue(schema, value), value);
}

function isNonAtomicSet(schema: JSONSchemaProps): boolean {
  if (schema['x-kubernetes-list-type'] !== 'set' || schema.items === undefined || Array.isArray(schema.items)) return false;
  const items = schema.items as JSONSchemaProps;
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array') return listType !== undefined && listType !== 'atomic';
  return items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
}

function unchangedVersions(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec): ReadonlySet<string> {
  const before = new Map((old.versions ?? []).map((version) => [version.name, version]));
  const unchanged = (spec.versions ?? []).filter(({ name, schema }) => before.has(name) && sameValue(schema, before.get(name)?.schema));
  return new Set(unchanged.map(({ name }) => name));
}

function manySelectableFields(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec): ReadonlySet<string> {
  const before = new Map((old.versions ?? []).map((version) => [version.name, version.selectableFields ?? []]));
  const versions = (spec.versions ?? []).filter(({ name, selectableFields }) => {
    const fields = before.get(name) ?? [];
    return fields.length > MAX_SELECTABLE_FIELDS && sameValue(fields, selectableFields);
  });
  const all = versions.length === (spec.versions ?? []).length ? [''] : [];
  return new Set([...versions.map(({ name }) => name), ...all]);
}

function validateUnchanged(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
  rules: DefinitionRules,
): readonly FieldError[] {
  const names = SPEC.child('names');
  const established = rules.requireImmutableNames
    ? [
        ...immutable(SPEC.child('scope'), { value: spec.scope, old: old.scope }),
        ...immutable(names.child('kind'), { value: spec.names.kind, old: old.names.kind }),
      ]
    : [];
  return [
    ...established,
    ...immutable(SPEC.child('group'), { value: spec.group, old: old.group }),
    ...immutable(names.child('plural'), { value: spec.names.plural, old: old.names.plural }),
  ];
}

function validateSpec(spec: CustomResourceDefinitionSpec, initialRules: DefinitionRules): FieldError[] {
  const internal = internalDefinition(spec);
  const rules = { ...initialRules, requireStructuralSchema: initialRules.requireStructuralSchema || spec.preserveUnknownFields !== true };
  const { names } = spec;
  const errors = [...validateGroup(spec.group), ...requiredValue(SPEC.child('scope'), spec.scope, ['Cluster', 'Namespaced'])];
  pushAll(errors, validateSchemasPresent(internal, rules), validateDefaultsPruned(spec), validateVersions(internal, rules));
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(FieldError.required(SPEC.child('names', field)));
  }
  pushAll(errors, validateNames(names, SPEC.child('names')), validateShared(internal, rules));
  if (spec.conversion !== undefined && spec.conversion.strategy !== 'None' && spec.preserveUnknownFields === true) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.push(FieldError.invalid(SPEC.child('conversion', 'strategy'), spec.conversion.strategy, detail));
  }
  return [...errors, ...validateConversion(spec.conversion, SPEC.child('conversion'), rules)];
}

function validateGroup(group: string | undefined): FieldError[] {
  const path = SPEC.child('group');
  if (!group) return [FieldError.required(path)];
  const problems = checkDns1123Subdomain(group);
  if (problems.length > 0) return [FieldError.invalid(path, group, problems.join(','))];
  return group.includes('.') ? [] : [FieldError.invalid(path, group, 'should be a domain with at least one dot')];
}

function validateSchemasPresent({ validation, versions }: InternalDefinition, { requireOpenAPISchema }: DefinitionRules): FieldError[] {
  if (validation?.openAPIV3Schema !== undefined) return [];
  const errors: FieldError[] = [];
  for (const [i, { schema, served }] of versions.entries()) {
    if (schema?.openAPIV3Schema !== undefined || (!requireOpenAPISchema && !served)) continue;
    const detail = requireOpenAPISchema ? '' : 'because otherwise all fields are pruned';
    errors.push(FieldError.required(SPEC.child('versions').index(i).child('schema', 'openAPIV3Schema'), detail));
  }
  return errors;
}

function validateDefaultsPruned(spec: CustomResourceDefinitionSpec): FieldError[] {
  const hasDefaults = ({ default: value }: JSONSchemaProps) => value !== undefined && value !== null;
  if (spec.preserveUnknownFields !== true || !schemasOf(spec).some((schema) => schemaHas(schema, hasDefaults))) return [];
  return [FieldError.invalid(SPEC.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema')];
}

function validateStatus(status: CustomResourceDefinitionStatus | undefined, spec: CustomResourceDefinitionSpec): FieldError[] {
  const errors = status?.acceptedNames === undefined ? [] : validateNames(status.acceptedNames, STATUS.child('acceptedNames'));
  return [...errors, ...validateStoredVersions(status?.storedVersions ?? null, spec.versions ?? [])];
}

function validateStoredVersions(stored: readonly string[] | null, versions: readonly CustomResourceDefinitionVersion[]): FieldError[] {
  const path = STATUS.child('storedVersions');
  if (stored === null || stored.length === 0) return [FieldError.invalid(path, stored, 'must have at least one stored version')];
  const names = new Set(versions.map(({ name }) => name));
  // A stored version counts for one version only: of those that repeat its name, others miss it.
  const storedNames = new Set(stored);
  const missing = versions.filter(({ name, storage }) => !storedNames.delete(name) && storage);
  const errors = missing.map(({ name }) => FieldError.invalid(path, stored, `must have the storage version ${name}`));
  for (const [i, name] of stored.entries()) {
    if (names.has(name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(FieldError.invalid(path.index(i), name, detail));
  }
  return errors;
}

type Approval = 'invalid' | 'approved' | 'bypassed' | 'missing';

function approvalOf({ metadata }: CustomResourceDefinition): Approval {
  const text = metadata.annotations?.[APPROVAL] ?? '';
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return structural.isUri(text) && /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]/.test(text) ? 'approved' : 'invalid';
}

// Groups of the Kubernetes project are protected.
function validateApproval(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const { group } = definition.spec;
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  const approval = approvalOf(definition);
  if (old !== undefined && approvalOf(old) === approval) return [];
  const path = Path.of('metadata', 'annotations').key(APPROVAL);
  const reason = `protected groups must have approval annotation "${APPROVAL}"`;
  const see = ', see https://github.com/kubernetes/enhancements/pull/1111';
  if (approval === 'missing') return [FieldError.required(path, reason + see)];
  if (approval !== 'invalid') return [];
  const value = definition.metadata.annotations?.[APPROVAL];
  return [FieldError.invalid(path, value, `${reason} with either a URL or a reason starting with "unapproved"${see}`)];
}

function validatePreserveUnknown(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec | undefined): FieldError[] {
  if (old?.preserveUnknownFields === true || spec.preserveUnknownFields !== true) return [];
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [FieldError.invalid(SPEC.child('preserveUnknownFields'), true, detail)];
}
