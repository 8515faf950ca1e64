import { checkDns1035Label, checkDns1123Subdomain, FieldError, nameIsDnsSubdomain, Path, structural } from '#machinery';
import { immutable, requiredValue, sameValue } from '../../field-checks.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import {
  type ConversionRules,
  hasRecognizedReviewVersion,
  hasValidCABundle,
  validateConversion,
} from './custom-resource-conversion.validation.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from './custom-resource-definition.ts';
import { validateNames } from './custom-resource-definition-names.validation.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
} from './custom-resource-definition-spec.ts';
import { EMBEDDED_METADATA } from './embedded-metadata.validation.ts';
import { type InternalDefinition, internalDefinition, printedSchema, printedVersions, schemasOf } from './internal-definition.ts';
import { listKeyErrors, type SchemaRules, validateSchema } from './json-schema-props.validation.ts';
import { schemaHas } from './schema-walk.ts';
import { checkDefaultRules, RuleContext } from './validation-rule.validation.ts';

const SPEC = Path.of('spec');
const STATUS = Path.of('status');
const MAX_SELECTABLE_FIELDS = 8;
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const APPROVAL = 'api-approved.kubernetes.io';

/** Rules are tightened only for what did not break them before. */
interface Rules extends SchemaRules, ConversionRules {
  readonly requireImmutableNames: boolean;
  readonly requireOpenAPISchema: boolean;
  readonly requireStructuralSchema: boolean;
  readonly requirePrunedDefaults: boolean;
  /** Names of versions whose schema is the same as before. */
  readonly unchangedVersions: ReadonlySet<string>;
  /** Names of versions ('' for all) that already had too many selectable fields. */
  readonly manySelectableFields: ReadonlySet<string>;
}

const NEW_DEFINITION: Rules = {
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

function rulesForUpdate({ spec }: CustomResourceDefinition, old: CustomResourceDefinition): Rules {
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
  const same = (spec.versions ?? []).filter(({ name, schema }) => before.has(name) && sameValue(schema, before.get(name)?.schema));
  return new Set(same.map(({ name }) => name));
}

function manySelectableFields(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec): ReadonlySet<string> {
  const before = new Map((old.versions ?? []).map((version) => [version.name, version.selectableFields ?? []]));
  const kept = (spec.versions ?? []).filter(({ name, selectableFields }) => {
    const fields = before.get(name) ?? [];
    return fields.length > MAX_SELECTABLE_FIELDS && sameValue(fields, selectableFields);
  });
  const all = kept.length === (spec.versions ?? []).length ? [''] : [];
  return new Set([...kept.map(({ name }) => name), ...all]);
}

function validateUnchanged(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec, rules: Rules): readonly FieldError[] {
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

function validateSpec(spec: CustomResourceDefinitionSpec, given: Rules): FieldError[] {
  const internal = internalDefinition(spec);
  const rules = { ...given, requireStructuralSchema: given.requireStructuralSchema || spec.preserveUnknownFields !== true };
  const { names } = spec;
  const errors = [...validateGroup(spec.group), ...requiredValue(SPEC.child('scope'), spec.scope, ['Cluster', 'Namespaced'])];
  errors.push(...validateSchemasPresent(internal, rules), ...validateDefaultsPruned(spec), ...validateVersions(internal, rules));
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(FieldError.required(SPEC.child('names', field)));
  }
  errors.push(...validateNames(names, SPEC.child('names')), ...validateShared(internal, rules));
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

function validateSchemasPresent({ validation, versions }: InternalDefinition, { requireOpenAPISchema }: Rules): FieldError[] {
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

function validateVersions(internal: InternalDefinition, rules: Rules): FieldError[] {
  const { versions } = internal;
  const path = SPEC.child('versions');
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    const problems = checkDns1035Label(version.name);
    if (problems.length > 0) errors.push(FieldError.invalid(path.index(i).child('name'), version.name, problems.join(',')));
    const subresources = versions.some((each) => each.subresources !== undefined) ? version.subresources : internal.subresources;
    errors.push(...validateVersion(version, path.index(i), { rules, hasStatus: subresources?.status !== undefined }));
  }
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    errors.push(FieldError.invalid(path, printedVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(FieldError.invalid(path, printedVersions(versions), 'must have exactly one version marked as storage version'));
  }
  const problems = internal.version === '' ? [] : checkDns1035Label(internal.version);
  if (problems.length > 0) errors.push(FieldError.invalid(SPEC.child('version'), internal.version, problems.join(',')));
  return errors;
}

interface VersionOptions {
  readonly rules: Rules;
  readonly hasStatus: boolean;
}

function validateVersion(version: CustomResourceDefinitionVersion, path: Path, { rules, hasStatus }: VersionOptions): FieldError[] {
  const { name, schema, selectableFields = [] } = version;
  const own = { ...rules, suppressPerExpressionCost: rules.unchangedVersions.has(name) };
  const errors = deprecationProblems(version).map((problem) =>
    FieldError.invalid(path.child('deprecationWarning'), version.deprecationWarning ?? null, problem),
  );
  errors.push(...validateValidation(schema, path.child('schema'), { rules: own, hasStatus }));
  errors.push(...validateSubresources(version.subresources, path.child('subresources')));
  errors.push(...validateColumns(version.additionalPrinterColumns ?? [], path.child('additionalPrinterColumns')));
  if (selectableFields.length === 0) return errors;
  const at = path.child('selectableFields');
  if (schema?.openAPIV3Schema === undefined) {
    return [...errors, FieldError.invalid(at, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')];
  }
  return [
    ...errors,
    ...validateSelectable(selectableFields, at, { schema: schema.openAPIV3Schema, isMany: rules.manySelectableFields.has(name) }),
  ];
}

function deprecationProblems({ deprecated, deprecationWarning }: CustomResourceDefinitionVersion): string[] {
  if (deprecationWarning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const problems: string[] = [];
  if (Buffer.byteLength(deprecationWarning) > 256) problems.push('must be <= 256 characters long');
  if (deprecationWarning === '') problems.push('must not be an empty string');
  const bad = deprecationWarning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (bad < 0) return problems;
  const index = Buffer.byteLength(deprecationWarning.slice(0, bad));
  return [...problems, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`];
}

// What all versions have in common.
function validateShared(internal: InternalDefinition, rules: Rules): FieldError[] {
  const { validation, subresources, versions, selectableFields } = internal;
  const hasStatus = subresources?.status !== undefined || versions.some((version) => version.subresources?.status !== undefined);
  const own = { ...rules, suppressPerExpressionCost: rules.unchangedVersions.has(internal.version) };
  const errors = validateValidation(validation, SPEC.child('validation'), { rules: own, hasStatus });
  errors.push(...validateSubresources(subresources, SPEC.child('subresources')));
  errors.push(...validateColumns(internal.additionalPrinterColumns, SPEC.child('additionalPrinterColumns')));
  if (selectableFields.length === 0) return errors;
  const at = SPEC.child('selectableFields');
  if (validation?.openAPIV3Schema === undefined) {
    return [...errors, FieldError.invalid(at, '', 'may only be set when validations.schema is included')];
  }
  const options = { schema: validation.openAPIV3Schema, isMany: rules.manySelectableFields.has('') };
  return [...errors, ...validateSelectable(selectableFields, at, options)];
}

function validateValidation(validation: CustomResourceValidation | undefined, path: Path, options: VersionOptions): FieldError[] {
  const schema = validation?.openAPIV3Schema;
  if (schema === undefined) return [];
  const { rules, hasStatus } = options;
  const at = path.child('openAPIV3Schema');
  const errors = hasStatus ? validateRootKeywords(schema, path) : [];
  if (schema.nullable === true) {
    errors.push(FieldError.forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'));
  }
  const unsupported = rules.requireStructuralSchema ? structural.unsupportedKeyword(schema) : undefined;
  const unsound = rules.requireStructuralSchema && unsupported === undefined ? validateStructure(schema, at, rules) : [];
  errors.push(...unsound);
  const isSound = rules.requireStructuralSchema && unsupported === undefined && unsound.length === 0;
  const context = isSound ? RuleContext.root() : undefined;
  errors.push(...validateSchema(schema, at, { rules, context }));
  if (errors.length === 0 && unsupported !== undefined) errors.push(FieldError.invalid(at, '', unsupported));
  return [...errors, ...(context?.totalErrors(at) ?? [])];
}

function validateStructure(schema: JSONSchemaProps, path: Path, { requirePrunedDefaults }: Rules): FieldError[] {
  const errors = structural.structuralErrors(path, schema);
  if (errors.length > 0) return errors;
  return structural.defaultErrors(path, schema, {
    metadata: EMBEDDED_METADATA,
    requirePruned: requirePrunedDefaults,
    checkRules: checkDefaultRules(),
  });
}

const ROOT_KEYWORDS: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
];

// Status is validated by itself, by the schema of its property: what the root says besides would be lost.
function validateRootKeywords(schema: JSONSchemaProps, path: Path): FieldError[] {
  const { type } = schema;
  if (type !== undefined && type !== '' && type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [FieldError.invalid(path.child('openAPIV3Schema.type'), type, detail)];
  }
  const allowed = new Set<string>(ROOT_KEYWORDS.map(([keyword]) => keyword));
  const other = Object.entries(schema).find(([keyword, value]) => !allowed.has(keyword) && value !== undefined && value !== false);
  if (other === undefined) return [];
  const names = ROOT_KEYWORDS.map(([, name]) => name).join(' ');
  const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [FieldError.invalid(path.child('openAPIV3Schema'), printedSchema(schema), detail)];
}

function validateSubresources(subresources: CustomResourceSubresources | undefined, path: Path): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const errors = [
    ...validateScalePath(scale.specReplicasPath, path.child('scale.specReplicasPath'), ['.spec.']),
    ...validateScalePath(scale.statusReplicasPath, path.child('scale.statusReplicasPath'), ['.status.']),
  ];
  const { labelSelectorPath = '' } = scale;
  if (labelSelectorPath === '') return errors;
  return [...errors, ...validateScalePath(labelSelectorPath, path.child('scale.labelSelectorPath'), ['.spec.', '.status.'])];
}

function validateScalePath(value: string | undefined, path: Path, prefixes: readonly string[]): FieldError[] {
  if (!value) return [FieldError.required(path)];
  const errors = validateSimplePath(value, path);
  if (errors.length > 0 || prefixes.some((prefix) => value.startsWith(prefix))) return errors;
  const places = prefixes.map((prefix) => prefix.slice(0, -1));
  return [FieldError.invalid(path, value, `should be a json path under ${places.length > 1 ? 'either ' : ''}${places.join(' or ')}`)];
}

function validateSimplePath(value: string, path: Path): FieldError[] {
  return value.startsWith('.') ? [] : [FieldError.invalid(path, value, 'must be a simple json path starting with .')];
}

function validateColumns(columns: readonly CustomResourceColumnDefinition[], path: Path): FieldError[] {
  return columns.flatMap((column, i) => validateColumn(column, path.index(i)));
}

function validateColumn({ name, type, format = '', jsonPath }: CustomResourceColumnDefinition, path: Path): FieldError[] {
  const errors = name ? [] : [FieldError.required(path.child('name'))];
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (!type) errors.push(FieldError.required(path.child('type'), types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(FieldError.invalid(path.child('type'), type, types));
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    errors.push(FieldError.invalid(path.child('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (!jsonPath) errors.push(FieldError.required(path.child('JSONPath')));
  else errors.push(...validateSimplePath(jsonPath, path.child('JSONPath')));
  return errors;
}

function validateSelectable(
  fields: readonly SelectableField[],
  path: Path,
  { schema, isMany }: { schema: JSONSchemaProps; isMany: boolean },
): FieldError[] {
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath }, i) => validateSelectableField(jsonPath, path.index(i).child('jsonPath'), { schema, seen }));
  if (seen.size > MAX_SELECTABLE_FIELDS && !isMany) errors.push(FieldError.tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function validateSelectableField(text: string, path: Path, { schema, seen }: { schema: JSONSchemaProps; seen: Set<string> }): FieldError[] {
  if (!text) return [FieldError.required(path)];
  try {
    const found = structural.followSchemaPath(text, schema, { subscripts: false });
    const errors = found.root === 'metadata' ? [FieldError.invalid(path, text, 'must not point to fields in metadata')] : [];
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? '')) {
      const detail = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(FieldError.invalid(path, text, detail));
    }
    const name = String(found.path);
    if (seen.has(name)) errors.push(FieldError.duplicate(path, text));
    seen.add(name);
    return errors;
  } catch (error) {
    if (!(error instanceof structural.SchemaPathError)) throw error;
    return [FieldError.invalid(path, text, `is an invalid path: ${error.message}`)];
  }
}

function validateStatus(status: CustomResourceDefinitionStatus | undefined, spec: CustomResourceDefinitionSpec): FieldError[] {
  const errors = status?.acceptedNames === undefined ? [] : validateNames(status.acceptedNames, STATUS.child('acceptedNames'));
  return [...errors, ...validateStoredVersions(status?.storedVersions ?? null, spec.versions ?? [])];
}

function validateStoredVersions(stored: readonly string[] | null, versions: readonly CustomResourceDefinitionVersion[]): FieldError[] {
  const path = STATUS.child('storedVersions');
  if (stored === null || stored.length === 0) return [FieldError.invalid(path, stored, 'must have at least one stored version')];
  const names = versions.map(({ name }) => name);
  const missing = versions.filter(({ name, storage }) => storage && !stored.includes(name));
  const errors = missing.map(({ name }) => FieldError.invalid(path, stored, `must have the storage version ${name}`));
  for (const [i, name] of stored.entries()) {
    if (names.includes(name)) continue;
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

// Groups of the Kubernetes project are not for everybody.
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
