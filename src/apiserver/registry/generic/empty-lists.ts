import type { FieldError, JsonValue, ObjectSchema, Schema } from '#machinery';
import type { KubeObject } from '../../watch-cache/kube-object.ts';

type Step = readonly string[];
const PATHS = new WeakMap<ObjectSchema, readonly Step[]>();

/**
 * Upstream's store does not distinguish empty lists from null, so required lists are shown as null when empty. Only lists below objects,
 * not list items, are affected.
 */
export function withoutEmptyLists(schema: ObjectSchema, object: KubeObject): KubeObject {
  let result = object;
  for (const path of pathsOf(schema)) if (isEmptyAt(result, path)) result = withNull(result, path) as KubeObject;
  return result;
}

function pathsOf(schema: ObjectSchema): readonly Step[] {
  let paths = PATHS.get(schema);
  if (paths === undefined) {
    paths = find(schema, []);
    PATHS.set(schema, paths);
  }
  return paths;
}

const MAX_DEPTH = 4;

function find(schema: ObjectSchema, prefix: Step): readonly Step[] {
  if (prefix.length >= MAX_DEPTH) return [];
  return schema.fields.flatMap(({ name, schema: inner, presence }) => {
    const path = [...prefix, name];
    if (inner.type === 'list') return presence === 'always' ? [path] : [];
    return inner.type === 'object' ? find(inner, path) : [];
  });
}

function isEmptyAt(object: unknown, path: Step): boolean {
  let value = object;
  for (const step of path) value = (value as Record<string, unknown> | null | undefined)?.[step];
  return Array.isArray(value) && value.length === 0;
}

function withNull(object: unknown, [step = '', ...rest]: Step): unknown {
  const source = object as Record<string, unknown>;
  return { ...source, [step]: rest.length === 0 ? null : withNull(source[step], rest) };
}

/** Decoded objects lack empty maps and lists. Where a client wrote one, upstream prints it instead of null. */
export function withExplicitEmpties(
  schema: ObjectSchema,
  errors: readonly FieldError[],
  document: JsonValue | undefined,
): readonly FieldError[] {
  return errors.map((error) => {
    const value = error.value === null ? emptyAt(schema, document, error.path.keys()) : undefined;
    return value === undefined ? error : error.withValue(value);
  });
}

function emptyAt(schema: Schema, document: unknown, keys: readonly (string | number)[]): object | undefined {
  let at: Schema | undefined = schema;
  let value = document;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || at === undefined || !Object.hasOwn(value, key)) return undefined;
    at = partOf(at, key);
    value = (value as Record<string, unknown>)[key];
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return undefined;
  // An empty object is not null to upstream: the error is about one of its fields.
  return at?.type === 'map' || at?.type === 'list' ? value : undefined;
}

function partOf(schema: Schema, key: string | number): Schema | undefined {
  if (schema.type === 'object') return schema.fields.find(({ name }) => name === key)?.schema;
  if (schema.type === 'list') return schema.items;
  return schema.type === 'map' ? schema.values : undefined;
}
