import { pushAll, runSteps } from '#base';
import {
  apiVersionOf,
  checkQualifiedName,
  FieldError,
  goQuote,
  goValue,
  isJsonObject,
  type JsonObject,
  JsonPath,
  type JsonValue,
  jsonPathText,
  nameIsDnsSubdomain,
  type ObjectSchema,
  Path,
  structural,
} from '#machinery';
import type { KindBehaviour, ValidatedChange } from '../../behaviour.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { Kind } from '../../schema.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import type {
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  JSONSchemaProps,
} from './custom-resource-definition-spec.ts';
import { customTable } from './custom-table.ts';
import { EMBEDDED_METADATA } from './embedded-metadata.validation.ts';

/** A custom resource object. */
export type CustomResource = JsonObject;

export interface DecodedCustomResource {
  readonly object: CustomResource;
  /** Why the document cannot be decoded, in upstream's words. */
  readonly error?: string;
  /** Dropped fields, in upstream's order. */
  readonly unknownFields: readonly string[];
}

/** One version of a custom kind: the equivalent of a built-in kind's sources, created from its definition. */
export interface CustomResourceType extends KindBehaviour<CustomResource> {
  readonly hasStatus: boolean;
  readonly scale: CustomResourceSubresourceScale | undefined;
  /**
   * Decodes a document: metadata is decoded, unknown fields and disallowed nulls are dropped. `lenient` is for stored objects: invalid metadata is
   * dropped field by field.
   */
  readonly decode: (document: JsonObject, options?: { readonly lenient?: boolean }) => DecodedCustomResource;
}

/** Throws for unknown versions. Compiles schemas, so the result should be kept. */
export function customResourceType(definition: CustomResourceDefinition, versionName: string): CustomResourceType {
  const version = (definition.spec.versions ?? []).find(({ name }) => name === versionName);
  if (version === undefined) throw new Error(`${definition.metadata.name} has no version ${versionName}`);
  const schema = version.schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const defaulting = structural.withPrunedDefaults(schema);
  const checks = new CustomResourceChecks(definition, version, schema);
  return {
    kind: customKind(definition, versionName, structural.compileResource(schema, ObjectMeta)),
    hasStatus: version.subresources?.status !== undefined,
    scale: version.subresources?.scale,
    decode: (document, { lenient = false } = {}) => decode(schema, document, lenient),
    defaults: (object) => structural.applyDefaults(defaulting, object),
    validate: (object) => checks.validate(object),
    validateUpdate: (object, old) => checks.validateUpdate(object, old),
    validateStatusUpdate: (object, old) => checks.validateStatusUpdate(object, old),
    validationSteps: (object, change) => checks.validationSteps(object, change),
    warnings: (object, old) => [...finalizerWarnings(object, old), ...(old === undefined ? [] : checks.ratchetWarnings(object, old))],
    selectableFields: selectableFields(version),
    table: customTable(version.additionalPrinterColumns ?? []),
  };
}

function customKind({ spec }: CustomResourceDefinition, version: string, schema: ObjectSchema): Kind<CustomResource> {
  const { names, group, scope } = spec;
  return {
    ...schema,
    group,
    version,
    kind: names.kind,
    resource: names.plural,
    singular: names.singular ?? '',
    namespaced: scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
  };
}

function decode(schema: JSONSchemaProps, document: JsonObject, lenient: boolean): DecodedCustomResource {
  const meta = document.metadata === undefined ? undefined : structural.decodeMetadata(ObjectMeta, document.metadata, lenient);
  if (meta?.error !== undefined) return { object: document, error: meta.error, unknownFields: [] };
  const { object, unknownFields } = structural.pruneUnknownFields(schema, document);
  const pruned = structural.pruneNulls(schema, object);
  const coerced = structural.coerceEmbedded(schema, pruned, { metadata: ObjectMeta, lenient, path: Path.none });
  if (coerced.error !== undefined) return { object: document, error: String(coerced.error), unknownFields: [] };
  const result = coerced.value as JsonObject;
  const dropped = [...(meta?.unknownFields ?? []).map((field) => `metadata.${field}`), ...unknownFields, ...coerced.unknownFields];
  if (meta === undefined || meta.metadata === result.metadata) return { object: result, unknownFields: dropped };
  return { object: { ...result, metadata: meta.metadata }, unknownFields: dropped };
}

// Rules run only on objects with valid types, required fields and sizes, since they rely on those.
const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const STATUS = Path.of('status');

class CustomResourceChecks {
  private readonly values: structural.ValueValidator;
  private readonly statusValues: structural.ValueValidator | undefined;
  private readonly rules: structural.RuleValidator | undefined;
  /** What the rules had to say of objects that they accept. */
  private readonly warnings = new WeakMap<CustomResource, { readonly old: unknown; readonly warnings: readonly string[] }>();
  private readonly apiVersion: string;
  private readonly kind: string;
  private readonly namespaced: boolean;
  private readonly scale: CustomResourceSubresourceScale | undefined;

  constructor(
    { spec }: CustomResourceDefinition,
    version: CustomResourceDefinitionVersion,
    private readonly schema: JSONSchemaProps,
  ) {
    this.values = new structural.ValueValidator(schema);
    const status = structural.propertyOf(schema, 'status');
    this.statusValues = status === undefined ? undefined : new structural.ValueValidator(status);
    this.rules = structural.RuleValidator.of(schema, true);
    this.apiVersion = apiVersionOf({ group: spec.group, version: version.name });
    this.kind = spec.names.kind;
    this.namespaced = spec.scope === 'Namespaced';
    this.scale = version.subresources?.scale;
  }

  validate(object: CustomResource): readonly FieldError[] {
    return runSteps(this.createSteps(object));
  }

  validateUpdate(object: CustomResource, old: CustomResource): readonly FieldError[] {
    return runSteps(this.updateSteps(object, old));
  }

  validateStatusUpdate(object: CustomResource, old: CustomResource): readonly FieldError[] {
    return runSteps(this.statusSteps(object, old));
  }

  validationSteps(object: CustomResource, { old, isStatus }: ValidatedChange<CustomResource>): Generator<void, readonly FieldError[]> {
    if (old === undefined) return this.createSteps(object);
    return isStatus ? this.statusSteps(object, old) : this.updateSteps(object, old);
  }

  private *createSteps(object: CustomResource): Generator<void, readonly FieldError[]> {
    const typeErrors = this.typeErrors(object);
    const errors = typeErrors.length > 0 ? typeErrors : this.createErrors(object);
    pushAll(errors, this.embeddedErrors(object), structural.listTypeErrors(Path.none, this.schema, object));
    return yield* this.withRules(errors, object, {});
  }

  private *updateSteps(object: CustomResource, old: CustomResource): Generator<void, readonly FieldError[]> {
    const correlation = new structural.Correlation(object, old, this.schema);
    const typeErrors = this.typeErrors(object);
    const errors = typeErrors.length > 0 ? typeErrors : this.updateErrors(object, old, correlation);
    pushAll(errors, this.embeddedErrors(object), this.newListErrors(object, old));
    return yield* this.withRules(errors, object, { old, correlation });
  }

  private *statusSteps(object: CustomResource, old: CustomResource): Generator<void, readonly FieldError[]> {
    const correlation = new structural.Correlation(object, old, this.schema);
    const typeErrors = this.typeErrors(object);
    const errors = typeErrors.length > 0 ? typeErrors : this.statusErrors(object, old, correlation);
    pushAll(errors, this.newListErrors(object, old));
    return yield* this.withRules(errors, object, { old, correlation });
  }

  /** Violations that existed before the update. */
  ratchetWarnings(object: CustomResource, old: CustomResource): readonly string[] {
    if (this.rules === undefined) return [];
    const validated = this.warnings.get(object);
    if (validated?.old === old) return validated.warnings;
    const correlation = new structural.Correlation(object, old, this.schema);
    return this.rules.validate({ path: Path.none, value: object, old, correlation }).warnings;
  }

  private typeErrors(object: CustomResource): FieldError[] {
    const errors: FieldError[] = [];
    if (object.kind !== this.kind) errors.push(FieldError.invalid(Path.of('kind'), object.kind ?? '', `must be ${this.kind}`));
    if (object.apiVersion !== this.apiVersion) {
      errors.push(FieldError.invalid(Path.of('apiVersion'), object.apiVersion ?? '', `must be ${this.apiVersion}`));
    }
    return errors;
  }

  private createErrors(object: CustomResource): FieldError[] {
    const rules = { namespaced: this.namespaced, nameRule: nameIsDnsSubdomain, anyFinalizer: true };
    return [
      ...validateObjectMeta(metadataOf(object), rules),
      ...fieldErrors(this.values.validate(object), Path.none),
      ...this.scaleErrors(object),
    ];
  }

  private updateErrors(object: CustomResource, old: CustomResource, correlation: structural.Correlation): FieldError[] {
    return [
      ...validateObjectMetaUpdate(metadataOf(object), metadataOf(old), { anyFinalizer: true }),
      ...fieldErrors(this.values.validateUpdate(object, correlation), Path.none),
      ...this.scaleErrors(object),
    ];
  }

  private statusErrors(object: CustomResource, old: CustomResource, correlation: structural.Correlation): FieldError[] {
    const errors = validateObjectMetaUpdate(metadataOf(object), metadataOf(old), { anyFinalizer: true });
    if (object.status !== undefined && this.statusValues !== undefined) {
      const status = correlation.key('status');
      const member =
        status === undefined ? this.statusValues.validate(object.status) : this.statusValues.validateUpdate(object.status, status);
      pushAll(errors, fieldErrors(member, STATUS));
    }
    return [...errors, ...this.scaleStatusErrors(object)];
  }

  private embeddedErrors(object: CustomResource): readonly FieldError[] {
    return structural.embeddedErrors(this.schema, object, { path: Path.none, rules: EMBEDDED_METADATA });
  }

  // A list that violated its list type before may stay so.
  private newListErrors(object: CustomResource, old: CustomResource): readonly FieldError[] {
    const errors = structural.listTypeErrors(Path.none, this.schema, object);
    return errors.length === 0 || structural.listTypeErrors(Path.none, this.schema, old).length > 0 ? [] : errors;
  }

  private *withRules(
    errors: FieldError[],
    object: CustomResource,
    update: Pick<structural.RuleInput, 'old' | 'correlation'>,
  ): Generator<void, readonly FieldError[]> {
    if (this.rules === undefined) return errors;
    if (errors.some(({ type }) => BLOCKING.has(type))) return [...errors, FieldError.invalid(Path.none, null, NOT_CHECKED)];
    yield;
    const result = yield* this.rules.steps({ path: Path.none, value: object, ...update });
    if (result.errors.length === 0) this.warnings.set(object, { old: update.old, warnings: result.warnings });
    return [...errors, ...result.errors];
  }

  private scaleErrors(object: CustomResource): FieldError[] {
    if (this.scale === undefined) return [];
    return [...replicasErrors(object, this.scale.specReplicasPath), ...this.scaleStatusErrors(object)];
  }

  private scaleStatusErrors(object: CustomResource): FieldError[] {
    if (this.scale === undefined) return [];
    const errors = replicasErrors(object, this.scale.statusReplicasPath);
    const { labelSelectorPath } = this.scale;
    return labelSelectorPath === undefined ? errors : [...errors, ...selectorErrors(object, labelSelectorPath)];
  }
}

function metadataOf({ metadata }: CustomResource): ObjectMeta {
  return (isJsonObject(metadata) ? metadata : {}) as ObjectMeta;
}

function fieldErrors({ errors }: ReturnType<structural.ValueValidator['validate']>, path: Path): FieldError[] {
  return errors.map((error) => error.toFieldError(path));
}

const MAX_REPLICAS = 2 ** 31 - 1;

function replicasErrors(object: CustomResource, text: string): FieldError[] {
  const count = nested(object, text, 'int64');
  const path = Path.of(text);
  if (count.problem !== undefined) return [FieldError.invalid(path, 0, count.problem)];
  const replicas = count.value as number | bigint | undefined;
  if (replicas === undefined) return [];
  if (replicas < 0) return [FieldError.invalid(path, replicas, 'should be a non-negative integer')];
  return replicas > MAX_REPLICAS ? [FieldError.invalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

function selectorErrors(object: CustomResource, text: string): FieldError[] {
  const selector = nested(object, text, 'string');
  return selector.problem === undefined ? [] : [FieldError.invalid(Path.of(text), '', selector.problem)];
}

interface NestedLookup {
  readonly value?: JsonValue;
  readonly problem?: string;
}

// Follows field names only: a missing value is valid, one of another type is not.
function nested(object: CustomResource, text: string, expected: 'int64' | 'string'): NestedLookup {
  const names = text.replace(/^\./, '').split('.');
  let value: JsonValue | undefined = object;
  for (const [i, name] of names.entries()) {
    if (value === undefined || value === null) return {};
    if (!isJsonObject(value)) return { problem: accessorProblem(names.slice(0, i), value, 'map[string]interface{}') };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (value === undefined) return {};
  const isRight = expected === 'string' ? typeof value === 'string' : typeof value === 'bigint' || Number.isInteger(value);
  return isRight ? { value } : { problem: accessorProblem(names, value, expected) };
}

function accessorProblem(names: readonly string[], value: JsonValue, expected: string): string {
  return `.${names.join('.')} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function goType(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'int64' : 'string';
}

const FINALIZERS = Path.of('metadata', 'finalizers');
const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function finalizerWarnings(object: CustomResource, old: CustomResource | undefined): string[] {
  const before = new Set(old === undefined ? [] : (metadataOf(old).finalizers ?? []));
  const added = [...new Set(metadataOf(object).finalizers ?? [])].filter((finalizer) => !before.has(finalizer)).sort();
  return added.flatMap(finalizerWarning);
}

function finalizerWarning(finalizer: string): string[] {
  const subject = `${FINALIZERS}: ${goQuote(finalizer)}`;
  const warnings = checkQualifiedName(finalizer).map((problem) => `${subject}: ${problem}`);
  if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return warnings;
  const advice = finalizer.includes('.') ? 'name including a path (/)' : 'name';
  return [
    ...warnings,
    `${subject}: prefer a domain-qualified finalizer ${advice} to avoid accidental conflicts with other finalizer writers`,
  ];
}

function selectableFields({
  selectableFields: fields = [],
}: CustomResourceDefinitionVersion): Readonly<Record<string, (object: CustomResource) => string>> {
  return Object.fromEntries(fields.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), selector(new JsonPath(jsonPath))]));
}

function selector(path: JsonPath): (object: CustomResource) => string {
  return (object) => {
    const value = path.first(object);
    return value === undefined || value === null ? '' : jsonPathText(value);
  };
}
