import { getKey, isJsonArray, isJsonObject, type JsonValue, type Schema } from '#machinery';

interface PatchedValue {
  readonly schema: Schema | undefined;
  readonly value: JsonValue;
  readonly before: JsonValue | undefined;
}

/** Deeper members are printed in any order. */
const MAX_SORTED_DEPTH = 500;

/**
 * As upstream prints a patched document: members that the patch touched are sorted by name, untouched ones keep the order of their
 * definition. Patches share untouched values, so identity tells them apart.
 */
export function asPrinted({ schema, value, before }: PatchedValue, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null || depth > MAX_SORTED_DEPTH) return value;
  if (value === before && schema !== undefined) return inSchemaOrder(schema, value);
  return isJsonArray(value) ? printedItems({ schema, value, before }, depth) : printedMembers({ schema, value, before }, depth);
}

function printedItems({ schema, value, before }: PatchedValue, depth: number): JsonValue {
  const untouched = new Set(isJsonArray(before) ? before : []);
  const items = schema?.type === 'list' ? schema.items : undefined;
  const printed = (item: JsonValue) => asPrinted({ schema: items, value: item, before: untouched.has(item) ? item : undefined }, depth + 1);
  return isJsonArray(value) ? value.map(printed) : value;
}

function printedMembers({ schema, value, before }: PatchedValue, depth: number): JsonValue {
  if (!isJsonObject(value)) return value;
  const old = isJsonObject(before) ? before : {};
  const printed = (key: string) =>
    asPrinted({ schema: schema && memberSchema(schema, key), value: value[key]!, before: getKey(old, key) }, depth + 1);
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, printed(key)]));
}

function memberSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.type === 'map') return schema.values;
  return schema.type === 'object' ? schema.fieldsByName.get(key)?.schema : undefined;
}

function inSchemaOrder(schema: Schema, value: JsonValue): JsonValue {
  if (schema.type === 'list' && isJsonArray(value)) return value.map((item) => inSchemaOrder(schema.items, item));
  if (!isJsonObject(value)) return value;
  if (schema.type === 'map') {
    const keys = Object.keys(value).sort();
    return Object.fromEntries(keys.map((key) => [key, inSchemaOrder(schema.values, value[key]!)]));
  }
  if (schema.type !== 'object') return value;
  const defined = schema.fields.filter(({ name }) => Object.hasOwn(value, name));
  return Object.fromEntries(defined.map((field) => [field.name, inSchemaOrder(field.schema, value[field.name]!)]));
}
