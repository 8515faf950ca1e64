import { pushAll } from '#base';
import { FieldError, type Path, structural } from '#machinery';
import { markDuplicates } from '../../field-checks.ts';
import type { JSONSchemaProps, ValidationRule } from './custom-resource-definition-spec.ts';
import { printedItems } from './internal-definition.ts';
import { isSchema } from './schema-walk.ts';
import type { RuleContext } from './validation-rule.validation.ts';

/** Relaxations for definitions that violated a rule before it existed. */
export interface SchemaRules {
  readonly requireValidPropertyType: boolean;
  readonly requireAtomicSetType: boolean;
  readonly requireMapListKeysMapSetValidation: boolean;
  /** The cost of single rules is not checked for unchanged schemas. */
  readonly suppressPerExpressionCost: boolean;
}

/** The walk's position in a schema. */
interface SchemaContext {
  readonly isRoot: boolean;
  /** Why a default is not allowed here; undefined if it is. */
  readonly noDefaultsBecause: string | undefined;
  /** Inside apiVersion, kind or metadata of a resource. */
  readonly insideMeta: boolean;
  /** The closest ancestor within which old and new values cannot be correlated. */
  readonly uncorrelated: Path | undefined;
  /** Absent within allOf, anyOf, oneOf and not, and for non-structural schemas: rules are not validated there. */
  readonly rules: RuleContext | undefined;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const MAX_KEY_ERRORS = 10;
const NEWLINE = /[\n\r]/;

/** Validates the schema of a version: unsupported keywords, contradicting extensions, and CEL rules. */
export function validateSchema(
  schema: JSONSchemaProps,
  path: Path,
  options: { rules: SchemaRules; context: RuleContext | undefined },
): FieldError[] {
  const check = new SchemaCheck(options.rules);
  const start = { isRoot: true, noDefaultsBecause: undefined, insideMeta: false, uncorrelated: undefined, rules: options.context };
  check.visit(schema, path, start);
  return [...check.errors, ...check.ruleErrors];
}

class SchemaCheck {
  readonly errors: FieldError[] = [];
  readonly ruleErrors: FieldError[] = [];

  constructor(private readonly rules: SchemaRules) {}

  visit(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    const before = this.errors.length;
    this.checkKeywords(schema, path, context);
    this.visitChildren(schema, path, context);
    this.checkExtensions(schema, path);
    this.checkValidations(schema, path, { here: context, isSound: () => this.errors.length === before });
  }

  private checkKeywords(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    const { type = '' } = schema;
    if (this.rules.requireValidPropertyType && type !== '' && !TYPES.includes(type)) {
      this.errors.push(FieldError.notSupported(path.child('type'), type, TYPES));
    }
    if (hasDefault(schema) && context.noDefaultsBecause !== undefined) {
      this.errors.push(FieldError.forbidden(path.child('default'), `must not be set ${context.noDefaultsBecause}`));
    }
    for (const keyword of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const) {
      if (isPresent(schema[keyword])) this.errors.push(FieldError.forbidden(path.child(keyword), `${keyword} is not supported`));
    }
    if (type === 'null') {
      this.errors.push(FieldError.forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'));
    }
    if (schema.items !== undefined && structural.isSchemaList(schema.items) && schema.items.length > 0) {
      this.errors.push(FieldError.forbidden(path.child('items'), 'items must be a schema object and not an array'));
    }
    if (context.insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
      this.errors.push(FieldError.forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
    }
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
      this.errors.push(FieldError.forbidden(path.child('uniqueItems'), detail));
    }
  }

  private visitChildren(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    this.visitAdditional(schema, path, context);
    this.visitProperties(schema, path, context);
    const nested = { ...context, isRoot: false, rules: undefined };
    if (schema.not !== undefined) this.visit(schema.not, path.child('not'), nested);
    for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
      for (const [i, clause] of (schema[keyword] ?? []).entries()) this.visit(clause, path.child(keyword).index(i), nested);
    }
    for (const [name, definition] of Object.entries(schema.definitions ?? {})) {
      this.visit(definition, path.child('definitions').key(name), nested);
    }
    this.visitItems(schema, path, context);
    for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
      // Upstream decodes a dependency of another type to nothing.
      if (isSchema(dependency)) this.visit(dependency, path.child('dependencies').key(name), nested);
    }
  }

  private visitAdditional(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    const { additionalProperties } = schema;
    if (additionalProperties === undefined) return;
    const at = path.child('additionalProperties');
    if (Object.keys(schema.properties ?? {}).length > 0 && additionalProperties !== true) {
      this.errors.push(FieldError.forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    if (typeof additionalProperties !== 'object') return;
    const noDefaultsBecause = context.insideMeta ? 'inside additionalProperties applying to object metadata' : context.noDefaultsBecause;
    this.visit(additionalProperties, at, {
      ...context,
      isRoot: false,
      noDefaultsBecause,
      rules: context.rules?.below(schema, additionalProperties),
    });
  }

  private visitProperties(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    const isResource = context.isRoot || schema['x-kubernetes-embedded-resource'] === true;
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isMeta = isResource && META_FIELDS.has(name);
      const noDefaultsBecause = isMeta && context.isRoot ? `in top-level ${name}` : context.noDefaultsBecause;
      const below = { ...context, isRoot: false, noDefaultsBecause, insideMeta: context.insideMeta || isMeta };
      const uncorrelated = isCorrelatableMap(schema) ? context.uncorrelated : (context.uncorrelated ?? path);
      this.visit(property, path.child('properties').key(name), { ...below, uncorrelated, rules: context.rules?.below(schema, property) });
    }
  }

  private visitItems(schema: JSONSchemaProps, path: Path, context: SchemaContext): void {
    const { items } = schema;
    if (items === undefined) return;
    const isCorrelated = schema['x-kubernetes-list-type'] === 'map';
    const below = { ...context, isRoot: false, uncorrelated: isCorrelated ? context.uncorrelated : (context.uncorrelated ?? path) };
    const at = path.child('items');
    if (!structural.isSchemaList(items)) this.visit(items, at, { ...below, rules: context.rules?.below(schema, items) });
    else for (const [i, item] of items.entries()) this.visit(item, at.index(i), { ...below, rules: context.rules?.below(schema, item) });
  }

  private checkExtensions(schema: JSONSchemaProps, path: Path): void {
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      this.errors.push(FieldError.invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
    }
    this.checkMapType(schema, path);
    this.checkListType(schema, path);
    if (schema['x-kubernetes-list-type'] === 'map') this.checkListMap(schema, path);
    if (this.rules.requireMapListKeysMapSetValidation) pushAll(this.errors, listKeyErrors(schema, path));
  }

  private checkMapType(schema: JSONSchemaProps, path: Path): void {
    const mapType = schema['x-kubernetes-map-type'];
    if (mapType === undefined) return;
    this.checkTypeIs('object', schema, { path, detail: 'must be object if x-kubernetes-map-type is specified' });
    if (mapType !== 'atomic' && mapType !== 'granular') {
      this.errors.push(FieldError.notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
    }
  }

  private checkTypeIs(expected: string, { type = '' }: JSONSchemaProps, { path, detail }: { path: Path; detail: string }): boolean {
    if (type === expected) return true;
    const at = path.child('type');
    this.errors.push(type === '' ? FieldError.required(at, detail) : FieldError.invalid(at, type, detail));
    return false;
  }

  private checkListType(schema: JSONSchemaProps, path: Path): void {
    const listType = schema['x-kubernetes-list-type'];
    const at = path.child('x-kubernetes-list-type');
    if (listType !== undefined) {
      const isArray = this.checkTypeIs('array', schema, { path, detail: 'must be array if x-kubernetes-list-type is specified' });
      if (isArray && listType === 'set' && this.rules.requireAtomicSetType) pushAll(this.errors, setItemErrors(schema, path));
      if (!['atomic', 'set', 'map'].includes(listType)) this.errors.push(FieldError.notSupported(at, listType, ['atomic', 'set', 'map']));
    }
    if ((schema['x-kubernetes-list-map-keys'] ?? []).length === 0 || listType === 'map') return;
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    this.errors.push(listType === undefined ? FieldError.required(at, detail) : FieldError.invalid(at, listType, detail));
  }

  private checkListMap(schema: JSONSchemaProps, path: Path): void {
    const { items } = schema;
    const keys = schema['x-kubernetes-list-map-keys'] ?? [];
    const at = path.child('items');
    if (keys.length === 0) {
      this.errors.push(FieldError.required(path.child('x-kubernetes-list-map-keys'), 'must not be empty if x-kubernetes-list-type is map'));
    }
    if (items === undefined) this.errors.push(FieldError.required(at, 'must have a schema if x-kubernetes-list-type is map'));
    else if (structural.isSchemaList(items)) {
      this.errors.push(FieldError.invalid(at, printedItems(items), 'must only have a single schema if x-kubernetes-list-type is map'));
    } else if (items.type !== 'object') {
      const detail = "must be object if parent array's x-kubernetes-list-type is map";
      this.errors.push(FieldError.invalid(at.child('type'), items.type ?? '', detail));
    } else this.checkKeys(keys, items, path);
  }

  private checkKeys(keys: readonly string[], items: JSONSchemaProps, path: Path): void {
    const at = path.child('x-kubernetes-list-map-keys');
    const repeated = markDuplicates(keys);
    // Each of these errors lists all keys.
    let freeErrors = MAX_KEY_ERRORS;
    for (const [i, key] of keys.entries()) {
      const property = ownProperty(items, key);
      if (property === undefined && freeErrors-- > 0)
        this.errors.push(FieldError.invalid(at, keys, 'entries must all be names of item properties'));
      if (property?.type === 'array' || property?.type === 'object') {
        const type = path.child('items', 'properties').key(key).child('type');
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        this.errors.push(FieldError.invalid(type, items.type, detail));
      }
      if (repeated[i] && freeErrors-- > 0) this.errors.push(FieldError.invalid(at, keys, 'must not contain duplicate entries'));
    }
  }

  private checkValidations(schema: JSONSchemaProps, path: Path, node: { here: SchemaContext; isSound: () => boolean }): void {
    const validations = schema['x-kubernetes-validations'] ?? [];
    if (validations.length === 0) return;
    const at = path.child('x-kubernetes-validations');
    for (const [i, rule] of validations.entries()) pushAll(this.errors, ruleTextErrors(rule, schema, at.index(i)));
    const { rules, isRoot, uncorrelated } = node.here;
    // An invalid schema has no types, and errors of its rules would not help.
    if (!node.isSound() || rules === undefined) return;
    const { suppressPerExpressionCost } = this.rules;
    pushAll(this.ruleErrors, rules.check(schema, at, { isRoot, uncorrelated, suppressPerExpressionCost }));
  }
}

function hasDefault({ default: value }: JSONSchemaProps): boolean {
  return value !== undefined && value !== null;
}

function isPresent(value: unknown): boolean {
  if (value === undefined || value === '') return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

function isCorrelatableMap(schema: JSONSchemaProps): boolean {
  const mapType = schema['x-kubernetes-map-type'];
  return mapType === undefined || mapType === 'granular' || mapType === 'atomic';
}

function ownProperty({ properties }: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function setItemErrors({ items }: JSONSchemaProps, path: Path): FieldError[] {
  if (items === undefined || structural.isSchemaList(items)) return [];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [FieldError.invalid(path.child('items', 'x-kubernetes-list-type'), listType, detail)];
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [FieldError.invalid(path.child('items', 'x-kubernetes-map-type'), listType ?? null, detail)];
  }
  return [];
}

/** Items of sets and maps must not be nullable, nor the keys of map lists. */
export function listKeyErrors(schema: JSONSchemaProps, path: Path): FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  const { items } = schema;
  if (items === undefined || structural.isSchemaList(items) || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    errors.push(FieldError.forbidden(path.child('items', 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType === 'set') return errors;
  const reason = 'this property is in x-kubernetes-list-map-keys, so it';
  const required = new Set(items.required);
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = ownProperty(items, key);
    if (property === undefined) continue;
    const at = path.child('items', 'properties').key(key);
    if (!required.has(key) && !hasDefault(property)) {
      errors.push(FieldError.required(at.child('default'), `${reason} must have a default or be a required property`));
    }
    if (property.nullable === true) errors.push(FieldError.forbidden(at.child('nullable'), `${reason} cannot be nullable`));
  }
  return errors;
}

function ruleTextErrors(rule: ValidationRule, schema: JSONSchemaProps, path: Path): FieldError[] {
  const errors = messageErrors(rule, path);
  const { messageExpression = '', reason, fieldPath = '' } = rule;
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(FieldError.required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(FieldError.notSupported(path.child('reason'), reason, REASONS));
  if (fieldPath === '') return errors;
  const at = path.child('fieldPath');
  if (fieldPath.trim() === '') errors.push(FieldError.invalid(at, fieldPath, 'must be non-empty if specified'));
  if (NEWLINE.test(fieldPath)) errors.push(FieldError.invalid(at, fieldPath, 'must not contain line breaks'));
  if (!isValidPath(fieldPath, schema)) errors.push(FieldError.invalid(at, fieldPath, 'must be a valid path'));
  return errors;
}

function messageErrors({ rule, message = '' }: ValidationRule, path: Path): FieldError[] {
  const at = path.child('message');
  const trimmed = message.trim();
  if (rule.trim() === '') return [FieldError.required(path.child('rule'), 'rule is not specified')];
  if (message !== '' && trimmed === '') return [FieldError.invalid(at, message, 'must be non-empty if specified')];
  if (NEWLINE.test(trimmed)) return [FieldError.invalid(at, message, 'must not contain line breaks')];
  if (NEWLINE.test(rule.trim()) && trimmed === '') {
    return [FieldError.required(at, 'message must be specified if rule contains line breaks')];
  }
  return [];
}

function isValidPath(text: string, schema: JSONSchemaProps): boolean {
  if (structural.unsupportedKeyword(schema) !== undefined) return true;
  try {
    structural.followSchemaPath(text, schema);
    return true;
  } catch (error) {
    if (error instanceof structural.SchemaPathError) return false;
    throw error;
  }
}
