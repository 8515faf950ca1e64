import type { ObjectSchema, ScalarType, Schema } from '../schema.ts';
import { escapeIdentifier, isReservedWord } from './escaping.ts';
import { BOOL, BYTES, type CelField, type CelType, DOUBLE, INT, listType, mapType, objectType, STRING, TIMESTAMP } from './types.ts';

const SCALARS: Readonly<Record<ScalarType, CelType | undefined>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  double: DOUBLE,
  bool: BOOL,
  bytes: BYTES,
  time: TIMESTAMP,
  microTime: TIMESTAMP,
  duration: STRING,
  // A union of two types, which published schemas cannot express: invisible to type-checked expressions.
  quantity: undefined,
  intOrString: undefined,
};

/**
 * The type of an API schema's values in expressions, for type checking; undefined for values that expressions cannot access. Fields are typed lazily,
 * since schemas may be recursive.
 */
export function apiType(schema: Schema, name: string): CelType | undefined {
  switch (schema.type) {
    case 'object':
      return structType(schema, name);
    case 'list': {
      const item = apiType(schema.items, `${name}.@idx`);
      return item && listType(item, { listKind: schema.listType, listMapKeys: schema.keys });
    }
    case 'map': {
      const value = apiType(schema.values, `${name}.@elem`);
      return value && mapType(STRING, value);
    }
    case 'any':
      return schema.objectOnly ? objectType(name, {}) : undefined;
    default:
      return SCALARS[schema.type];
  }
}

function structType(schema: ObjectSchema, name: string): CelType {
  const fields = new Map<string, CelField>();
  const properties = new Map(schema.fields.map((field) => [escapeIdentifier(field.name) ?? field.name, field]));
  const resolve = (identifier: string): CelField | undefined => {
    const existing = fields.get(identifier);
    const field = properties.get(identifier);
    if (existing !== undefined || field === undefined) return existing;
    const type = apiType(field.schema, `${name}.${identifier}`);
    if (type === undefined) return undefined;
    const resolved = { type, property: field.name };
    fields.set(identifier, resolved);
    return resolved;
  };
  // After a dot a reserved word needs no escape, except for keywords of the grammar.
  return objectType(name, (identifier) => resolve(identifier) ?? (isReservedWord(identifier) ? resolve(`__${identifier}__`) : undefined));
}
