import { sameValue } from '../../field-checks.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
  ValidationRule,
} from './custom-resource-definition-spec.ts';

/**
 * A definition in upstream's internal form: settings shared by all versions are at the top, and error paths name them there
 * (`spec.validation.openAPIV3Schema`, not `spec.versions[0].schema.openAPIV3Schema`).
 */
export interface InternalDefinition {
  /** The name of the first version. */
  readonly version: string;
  readonly validation: CustomResourceValidation | undefined;
  readonly subresources: CustomResourceSubresources | undefined;
  readonly additionalPrinterColumns: readonly CustomResourceColumnDefinition[];
  readonly selectableFields: readonly SelectableField[];
  readonly versions: readonly CustomResourceDefinitionVersion[];
  /** Missing versions are printed as null in errors, an empty list as []. */
  readonly hasVersions: boolean;
}

const SHARED = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

export function internalDefinition(spec: CustomResourceDefinitionSpec): InternalDefinition {
  const versions = spec.versions ?? [];
  const [first] = versions;
  const shared = SHARED.filter((field) => versions.every((version) => sameValue(version[field], first?.[field])));
  const top = (field: (typeof SHARED)[number]) => (shared.includes(field) ? first?.[field] : undefined);
  return {
    version: first?.name ?? '',
    validation: top('schema') as CustomResourceValidation | undefined,
    subresources: top('subresources') as CustomResourceSubresources | undefined,
    additionalPrinterColumns: (top('additionalPrinterColumns') ?? []) as readonly CustomResourceColumnDefinition[],
    selectableFields: (top('selectableFields') ?? []) as readonly SelectableField[],
    versions: versions.map((version) => without(version, shared)),
    hasVersions: spec.versions != null,
  };
}

function without(version: CustomResourceDefinitionVersion, fields: readonly string[]): CustomResourceDefinitionVersion {
  return Object.fromEntries(
    Object.entries(version).filter(([name]) => !fields.includes(name)),
  ) as unknown as CustomResourceDefinitionVersion;
}

/** All schemas of a definition. */
export function schemasOf(spec: CustomResourceDefinitionSpec): JSONSchemaProps[] {
  return (spec.versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);
}

/** Versions as messages print them: upstream's internal types, field by field. */
export function printedVersions(versions: readonly CustomResourceDefinitionVersion[]): object[] {
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.schema === undefined ? null : { OpenAPIV3Schema: printedSchema(version.schema.openAPIV3Schema) },
    Subresources: version.subresources === undefined ? null : printedSubresources(version.subresources),
    AdditionalPrinterColumns: version.additionalPrinterColumns?.map(printedColumn) ?? null,
    SelectableFields: version.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }));
}

function printedSubresources({ status, scale }: CustomResourceSubresources): object {
  const printed = scale && {
    SpecReplicasPath: scale.specReplicasPath,
    StatusReplicasPath: scale.statusReplicasPath,
    LabelSelectorPath: scale.labelSelectorPath ?? null,
  };
  return { Status: status ?? null, Scale: printed ?? null };
}

function printedColumn(column: CustomResourceColumnDefinition): object {
  const { name, type, format = '', description = '', priority = 0, jsonPath } = column;
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath };
}

/** A rule in printed form. */
export function printedRule({
  rule,
  message = '',
  messageExpression = '',
  reason,
  fieldPath = '',
  optionalOldSelf,
}: ValidationRule): object {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  };
}

export function printedSchema(schema: JSONSchemaProps | undefined): object | null {
  if (schema === undefined) return null;
  const list = (schemas: readonly JSONSchemaProps[] | undefined) => schemas?.map(printedSchema) ?? null;
  const table = (schemas: Readonly<Record<string, JSONSchemaProps>> | undefined) =>
    schemas === undefined ? null : Object.fromEntries(Object.entries(schemas).map(([name, property]) => [name, printedSchema(property)]));
  return {
    ID: schema.id ?? '',
    Schema: schema.$schema ?? '',
    Ref: schema.$ref ?? null,
    Description: schema.description ?? '',
    Type: schema.type ?? '',
    Nullable: schema.nullable ?? false,
    Format: schema.format ?? '',
    Title: schema.title ?? '',
    Default: schema.default ?? null,
    Maximum: schema.maximum ?? null,
    ExclusiveMaximum: schema.exclusiveMaximum ?? false,
    Minimum: schema.minimum ?? null,
    ExclusiveMinimum: schema.exclusiveMinimum ?? false,
    MaxLength: schema.maxLength ?? null,
    MinLength: schema.minLength ?? null,
    Pattern: schema.pattern ?? '',
    MaxItems: schema.maxItems ?? null,
    MinItems: schema.minItems ?? null,
    UniqueItems: schema.uniqueItems ?? false,
    MultipleOf: schema.multipleOf ?? null,
    Enum: schema.enum ?? null,
    MaxProperties: schema.maxProperties ?? null,
    MinProperties: schema.minProperties ?? null,
    Required: schema.required ?? null,
    Items: printedItems(schema.items),
    AllOf: list(schema.allOf),
    OneOf: list(schema.oneOf),
    AnyOf: list(schema.anyOf),
    Not: printedSchema(schema.not),
    Properties: table(schema.properties),
    AdditionalProperties: printedOrBool(schema.additionalProperties),
    PatternProperties: table(schema.patternProperties),
    Dependencies: schema.dependencies ?? null,
    AdditionalItems: printedOrBool(schema.additionalItems),
    Definitions: table(schema.definitions),
    ExternalDocs: printedDocs(schema.externalDocs),
    Example: schema.example ?? null,
    XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
    XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
    XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
    XListType: schema['x-kubernetes-list-type'] ?? null,
    XMapType: schema['x-kubernetes-map-type'] ?? null,
    XValidations: schema['x-kubernetes-validations']?.map(printedRule) ?? null,
  };
}

function printedDocs(docs: JSONSchemaProps['externalDocs']): object | null {
  return docs ? { Description: docs.description ?? '', URL: docs.url ?? '' } : null;
}

export function printedItems(items: JSONSchemaProps['items']): object | null {
  if (items === undefined) return null;
  const isList = Array.isArray(items);
  return {
    Schema: isList ? null : printedSchema(items as JSONSchemaProps),
    JSONSchemas: isList ? (items as readonly JSONSchemaProps[]).map(printedSchema) : null,
  };
}

function printedOrBool(value: JSONSchemaProps | boolean | undefined): object | null {
  if (value === undefined) return null;
  return typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: printedSchema(value) };
}
