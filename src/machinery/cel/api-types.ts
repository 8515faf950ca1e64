import type { ObjectSchema, ScalarType, Schema } from '../schema.ts';
import { escapeIdentifier, isReservedWord } from './escaping.ts';
import { BOOL, BYTES, type CelField, type CelType, DOUBLE, DYN, INT, listType, mapType, objectType, STRING, TIMESTAMP } from './types.ts';

const SCALARS: Readonly<Record<ScalarType, CelType>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  double: DOUBLE,
  bool: BOOL,
  bytes: BYTES,
  time: TIMESTAMP,
  microTime: TIMESTAMP,
  // Durations of the API are of no fixed form to expressions.
  duration: DYN,
  // Either of two types.
  quantity: DYN,
  intOrString: DYN,
};

/** The type by which expressions see values of a schema of the API, for checking them. Fields are typed as they are asked for: schemas recur. */
export function apiType(schema: Schema, name: string): CelType {
  switch (schema.type) {
    case 'object':
      return structType(schema, name);
    case 'list':
      return listType(apiType(schema.items, `${name}.@idx`), { listKind: schema.listType, listMapKeys: schema.keys });
    case 'map':
      return mapType(STRING, apiType(schema.values, `${name}.@elem`));
    case 'any':
      return DYN;
    default:
      return SCALARS[schema.type];
  }
}

function structType(schema: ObjectSchema, name: string): CelType {
  if (schema.preserveUnknown) return DYN;
  const fields = new Map<string, CelField>();
  const properties = new Map(schema.fields.map((field) => [escapeIdentifier(field.name) ?? field.name, field]));
  const resolve = (identifier: string): CelField | undefined => {
    const known = fields.get(identifier);
    const field = properties.get(identifier);
    if (known !== undefined || field === undefined) return known;
    const made = { type: apiType(field.schema, `${name}.${identifier}`), property: field.name };
    fields.set(identifier, made);
    return made;
  };
  // After a dot a reserved word needs no escape, unless the grammar itself knows the word.
  return objectType(name, (identifier) => resolve(identifier) ?? (isReservedWord(identifier) ? resolve(`__${identifier}__`) : undefined));
}
