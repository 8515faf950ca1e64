import { pushAll } from '#base';
import { decodeObject } from '../codec/index.ts';
import { FieldError } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { parseGroupVersion } from '../objects/group-resource.ts';
import type { ObjectSchema } from '../schema.ts';
import { compareBytes } from '../values/go-format.ts';
import { checkDns1035Label } from '../values/names.ts';
import { isEmbeddedResource, itemsOf, type JsonSchema, memberOf, propertyOf } from './json-schema.ts';

/** How to decode and validate metadata, whose type is defined in a higher layer. */
export interface MetadataRules {
  readonly schema: ObjectSchema;
  readonly validate: (metadata: JsonObject, path: Path) => readonly FieldError[];
}

export interface DecodedMetadata {
  readonly metadata: JsonObject;
  readonly error?: string;
  /** Below the metadata, sorted. */
  readonly unknownFields: readonly string[];
}

/** Decodes metadata by its type. With `lenient`, for stored objects, fields of a wrong type are dropped. */
export function decodeMetadata(schema: ObjectSchema, value: JsonValue, lenient: boolean): DecodedMetadata {
  const { object, error, problems } = decodeObject(schema, value);
  const unknownFields = problems.flatMap((problem) => /^unknown field "(.*)"$/s.exec(problem)?.[1] ?? []).sort(compareBytes);
  if (error === undefined) return { metadata: object, unknownFields };
  if (!lenient || !isJsonObject(value)) return { metadata: object, error, unknownFields };
  const sound = Object.entries(value).filter(([name, member]) => decodeObject(schema, { [name]: member }).error === undefined);
  return { metadata: decodeObject(schema, Object.fromEntries(sound)).object, unknownFields };
}

export interface CoercedMetadata {
  readonly value: JsonValue;
  readonly error?: FieldError;
  readonly unknownFields: readonly string[];
}

/** Brings the metadata of all embedded resources in a value to the form of its type. */
export function coerceEmbedded(
  schema: JsonSchema,
  value: JsonValue,
  options: { metadata: ObjectSchema; lenient: boolean; path: Path },
): CoercedMetadata {
  const coercion = new Coercion(options.metadata, options.lenient);
  const result = coercion.coerce(schema, value, options.path);
  return { value: result, ...(coercion.error && { error: coercion.error }), unknownFields: coercion.unknownFields.sort(compareBytes) };
}

class Coercion {
  error: FieldError | undefined;
  readonly unknownFields: string[] = [];

  constructor(
    private readonly metadata: ObjectSchema,
    private readonly lenient: boolean,
  ) {}

  coerce(schema: JsonSchema | undefined, value: JsonValue, path: Path): JsonValue {
    if (schema === undefined || this.error !== undefined) return value;
    if (isJsonArray(value)) {
      const items = itemsOf(schema);
      const result = value.map((item, i) => this.coerce(items, item, path.index(i)));
      return result.every((item, i) => item === value[i]) ? value : result;
    }
    return isJsonObject(value) ? this.coerceMembers(schema, value, path) : value;
  }

  private coerceMembers(schema: JsonSchema, object: JsonObject, path: Path): JsonValue {
    let changed = false;
    const result: MutableJsonObject = {};
    for (const name of Object.keys(object)) {
      const member = object[name] as JsonValue;
      const coerced = isEmbeddedResource(schema) ? this.coerceMeta(name, member, path) : member;
      const childPath = propertyOf(schema, name) === undefined ? path.key(name) : path.child(name);
      const deep = coerced === undefined ? undefined : this.coerce(memberOf(schema, name), coerced, childPath);
      changed ||= deep !== member;
      if (deep !== undefined) setKey(result, name, deep);
    }
    return changed ? result : object;
  }

  private coerceMeta(name: string, value: JsonValue, path: Path): JsonValue | undefined {
    if (name === 'apiVersion' || name === 'kind') {
      if (typeof value === 'string') return value;
      if (!this.lenient) this.error ??= FieldError.invalid(path.child(name), value, 'must be a string');
      return this.lenient ? undefined : value;
    }
    if (name !== 'metadata') return value;
    const { metadata, error, unknownFields } = decodeMetadata(this.metadata, value, this.lenient);
    pushAll(
      this.unknownFields,
      unknownFields.map((field) => `${path.child('metadata')}.${field}`),
    );
    if (error === undefined) return metadata;
    if (!this.lenient) this.error ??= FieldError.invalid(path.child('metadata'), value, error);
    return value;
  }
}

/** Whether embedded resources have a proper apiVersion, kind and metadata. */
export function embeddedErrors(
  schema: JsonSchema | undefined,
  value: JsonValue,
  { path, rules }: { path: Path; rules: MetadataRules },
): FieldError[] {
  if (schema === undefined) return [];
  if (isJsonArray(value)) return value.flatMap((item, i) => embeddedErrors(itemsOf(schema), item, { path: path.index(i), rules }));
  if (!isJsonObject(value)) return [];
  const errors = isEmbeddedResource(schema) ? resourceErrors(path, value, rules) : [];
  for (const name of Object.keys(value)) {
    const childPath = propertyOf(schema, name) === undefined ? path.key(name) : path.child(name);
    pushAll(errors, embeddedErrors(memberOf(schema, name), value[name] as JsonValue, { path: childPath, rules }));
  }
  return errors;
}

function resourceErrors(path: Path, { apiVersion, kind, metadata }: JsonObject, rules: MetadataRules): FieldError[] {
  const errors: FieldError[] = [];
  if (apiVersion === undefined) errors.push(FieldError.required(path.child('apiVersion')));
  if (kind === undefined) errors.push(FieldError.required(path.child('kind')));
  if (apiVersion !== undefined) pushAll(errors, apiVersionErrors(path.child('apiVersion'), apiVersion));
  if (kind !== undefined) pushAll(errors, kindErrors(path.child('kind'), kind));
  if (metadata !== undefined) pushAll(errors, metadataErrors(path.child('metadata'), metadata, rules));
  return errors;
}

function apiVersionErrors(path: Path, value: JsonValue): FieldError[] {
  if (typeof value !== 'string') return [FieldError.invalid(path, value, 'must be a string')];
  if (value === '') return [FieldError.invalid(path, value, 'must not be empty')];
  try {
    parseGroupVersion(value);
    return [];
  } catch (error) {
    return [FieldError.invalid(path, value, error instanceof Error ? error.message : String(error))];
  }
}

function kindErrors(path: Path, value: JsonValue): FieldError[] {
  if (typeof value !== 'string') return [FieldError.invalid(path, value, 'must be a string')];
  if (value === '') return [FieldError.invalid(path, value, 'must not be empty')];
  const problems = checkDns1035Label(value.toLowerCase());
  if (problems.length === 0) return [];
  return [FieldError.invalid(path, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

function metadataErrors(path: Path, value: JsonValue, rules: MetadataRules): readonly FieldError[] {
  const { metadata, error } = decodeMetadata(rules.schema, value, false);
  if (error !== undefined) return [FieldError.invalid(path, value, error)];
  // A template's name is optional, but validated if present.
  return rules.validate(metadata.name ? metadata : { ...metadata, name: 'fakename' }, path);
}
