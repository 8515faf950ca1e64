import { pushAll } from '#base';
import { checkDns1035Label, FieldError, itemErrors, Path, structural } from '#machinery';
import type { ConversionRules } from './custom-resource-conversion.validation.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
} from './custom-resource-definition-spec.ts';
import { EMBEDDED_METADATA } from './embedded-metadata.validation.ts';
import { type InternalDefinition, printedSchema, printedVersions } from './internal-definition.ts';
import { type SchemaRules, validateSchema } from './json-schema-props.validation.ts';
import { checkDefaultRules, RuleContext } from './validation-rule.validation.ts';

export const SPEC = Path.of('spec');
export const MAX_SELECTABLE_FIELDS = 8;
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Stricter rules do not apply to definitions that violated them before. */
export interface DefinitionRules extends SchemaRules, ConversionRules {
  readonly requireImmutableNames: boolean;
  readonly requireOpenAPISchema: boolean;
  readonly requireStructuralSchema: boolean;
  readonly requirePrunedDefaults: boolean;
  /** Names of versions with an unchanged schema. */
  readonly unchangedVersions: ReadonlySet<string>;
  /** Names of versions ('' for all) that already exceeded the limit of selectable fields. */
  readonly manySelectableFields: ReadonlySet<string>;
}

export function validateVersions(internal: InternalDefinition, rules: DefinitionRules): FieldError[] {
  const { versions } = internal;
  const path = SPEC.child('versions');
  const errors: FieldError[] = [];
  const isPerVersion = versions.some(({ subresources }) => subresources !== undefined);
  for (const [i, version] of versions.entries()) {
    const problems = checkDns1035Label(version.name);
    if (problems.length > 0) errors.push(FieldError.invalid(path.index(i).child('name'), version.name, problems.join(',')));
    const subresources = isPerVersion ? version.subresources : internal.subresources;
    pushAll(errors, validateVersion(version, path.index(i), { rules, hasStatus: subresources?.status !== undefined }));
  }
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    errors.push(FieldError.invalid(path, printedVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const printed = internal.hasVersions ? printedVersions(versions) : null;
    errors.push(FieldError.invalid(path, printed, 'must have exactly one version marked as storage version'));
  }
  const problems = internal.version === '' ? [] : checkDns1035Label(internal.version);
  if (problems.length > 0) errors.push(FieldError.invalid(SPEC.child('version'), internal.version, problems.join(',')));
  return errors;
}

interface VersionOptions {
  readonly rules: DefinitionRules;
  readonly hasStatus: boolean;
}

function validateVersion(version: CustomResourceDefinitionVersion, path: Path, { rules, hasStatus }: VersionOptions): FieldError[] {
  const { name, schema, selectableFields = [] } = version;
  const own = { ...rules, suppressPerExpressionCost: rules.unchangedVersions.has(name) };
  const errors = deprecationProblems(version).map((problem) =>
    FieldError.invalid(path.child('deprecationWarning'), version.deprecationWarning ?? null, problem),
  );
  pushAll(errors, validateValidation(schema, path.child('schema'), { rules: own, hasStatus }));
  pushAll(errors, validateSubresources(version.subresources, path.child('subresources')));
  pushAll(errors, validateColumns(version.additionalPrinterColumns ?? [], path.child('additionalPrinterColumns')));
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

// The settings that all versions share.
export function validateShared(internal: InternalDefinition, rules: DefinitionRules): FieldError[] {
  const { validation, subresources, versions, selectableFields } = internal;
  const hasStatus = subresources?.status !== undefined || versions.some((version) => version.subresources?.status !== undefined);
  const own = { ...rules, suppressPerExpressionCost: rules.unchangedVersions.has(internal.version) };
  const errors = validateValidation(validation, SPEC.child('validation'), { rules: own, hasStatus });
  pushAll(errors, validateSubresources(subresources, SPEC.child('subresources')));
  pushAll(errors, validateColumns(internal.additionalPrinterColumns, SPEC.child('additionalPrinterColumns')));
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
  pushAll(errors, unsound);
  const isSound = rules.requireStructuralSchema && unsupported === undefined && unsound.length === 0;
  const context = isSound ? RuleContext.root() : undefined;
  pushAll(errors, validateSchema(schema, at, { rules, context }));
  if (errors.length === 0 && unsupported !== undefined) errors.push(FieldError.invalid(at, '', unsupported));
  return [...errors, ...(context?.totalErrors(at) ?? [])];
}

function validateStructure(schema: JSONSchemaProps, path: Path, { requirePrunedDefaults }: DefinitionRules): FieldError[] {
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

// The status subresource is validated by the schema of its property only: other rules at the root would be ignored.
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
  return itemErrors(columns, (column, i) => validateColumn(column, path.index(i)));
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
  else pushAll(errors, validateSimplePath(jsonPath, path.child('JSONPath')));
  return errors;
}

function validateSelectable(
  fields: readonly SelectableField[],
  path: Path,
  { schema, isMany }: { schema: JSONSchemaProps; isMany: boolean },
): FieldError[] {
  const seen = new Set<string>();
  const errors = itemErrors(fields, ({ jsonPath }, i) =>
    validateSelectableField(jsonPath, path.index(i).child('jsonPath'), { schema, seen }),
  );
  if (seen.size > MAX_SELECTABLE_FIELDS && !isMany) errors.push(FieldError.tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function validateSelectableField(text: string, path: Path, { schema, seen }: { schema: JSONSchemaProps; seen: Set<string> }): FieldError[] {
  if (!text) return [FieldError.required(path)];
  try {
    const target = structural.followSchemaPath(text, schema, { subscripts: false });
    const errors = target.root === 'metadata' ? [FieldError.invalid(path, text, 'must not point to fields in metadata')] : [];
    if (!['string', 'boolean', 'integer'].includes(target.schema?.type ?? '')) {
      const detail = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(FieldError.invalid(path, text, detail));
    }
    const name = String(target.path);
    if (seen.has(name)) errors.push(FieldError.duplicate(path, text));
    seen.add(name);
    return errors;
  } catch (error) {
    if (!(error instanceof structural.SchemaPathError)) throw error;
    return [FieldError.invalid(path, text, `is an invalid path: ${error.message}`)];
  }
}
