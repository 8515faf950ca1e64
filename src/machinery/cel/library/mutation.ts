import { lookupTable } from '#base';
import type { JsonValue, MutableJsonObject } from '../../json/json-value.ts';
import { setKey } from '../../json/json-value.ts';
import { type CelLibrary, declare, overload } from '../check/declarations.ts';
import { type CelType, DYN, objectType, STRING } from '../types.ts';
import { CelList, CelMap } from '../values/containers.ts';
import { equal } from '../values/equality.ts';
import { toJson } from '../values/inspect.ts';
import { CelObject, type CelValue, EvalFailure } from '../values/value.ts';

const JSON_PATCH_FIELDS = lookupTable<CelType>({ op: STRING, path: STRING, from: STRING, value: DYN });

export const JSON_PATCH_TYPE = objectType('JSONPatch', JSON_PATCH_FIELDS, { construct: (fields) => new JsonPatchValue(fields) });

/** One operation of a JSON patch, as an expression writes it: `JSONPatch{op: "add", path: "/x", value: 1}`. */
export class JsonPatchValue extends CelObject {
  readonly type = JSON_PATCH_TYPE;
  private readonly fields: ReadonlyMap<string, CelValue>;

  constructor(fields: ReadonlyMap<string, CelValue>) {
    super();
    this.fields = fields;
  }

  equals(other: CelValue): boolean {
    return other instanceof JsonPatchValue && equalFields(this.fields, other.fields);
  }

  override getField(name: string): CelValue | undefined {
    const value = this.fields.get(name);
    return value ?? (name === 'value' || !(name in JSON_PATCH_FIELDS) ? undefined : '');
  }

  override toJson(): JsonValue {
    return fieldsToJson(this.fields);
  }
}

function equalFields(a: ReadonlyMap<string, CelValue>, b: ReadonlyMap<string, CelValue>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined || !equal(value, other)) return false;
  }
  return true;
}

function fieldsToJson(fields: ReadonlyMap<string, CelValue>): JsonValue {
  const json: MutableJsonObject = {};
  for (const [name, value] of fields) setKey(json, name, toJson(value));
  return json;
}

/** An object built by `Object{spec: Object.spec{…}}`. */
export class ObjectLiteralValue extends CelObject {
  readonly type: CelType;
  private readonly fields: ReadonlyMap<string, CelValue>;

  constructor(type: CelType, fields: ReadonlyMap<string, CelValue>) {
    super();
    this.type = type;
    this.fields = fields;
  }

  equals(other: CelValue): boolean {
    return other instanceof ObjectLiteralValue && other.type.name === this.type.name && equalFields(this.fields, other.fields);
  }

  override get isZero(): boolean {
    return this.fields.size === 0;
  }

  override getField(name: string): CelValue | undefined {
    return this.fields.get(name);
  }

  override toJson(): JsonValue {
    return fieldsToJson(this.fields);
  }

  /**
   * Where type names do not follow the fields they stand in: `Object{spec: Object.other{}}`. Throws an EvalFailure that
   * lists all of them, in upstream's words.
   */
  checkTypeNames(): void {
    const problems = typeNameProblems(this, this.type.name);
    if (problems.length > 0) throw new EvalFailure(problems.join('\n'));
  }

  fieldProblems(path: string): readonly string[] {
    return [...this.fields].flatMap(([name, value]) => typeNameProblems(value, `${path}.${name}`));
  }
}

function typeNameProblems(value: CelValue, expected: string): readonly string[] {
  if (value instanceof CelList) return value.values().flatMap((item) => typeNameProblems(item, expected));
  if (value instanceof CelMap) return [...value.keys()].flatMap((key) => typeNameProblems(value.find(key) ?? null, expected));
  if (!(value instanceof ObjectLiteralValue)) return [];
  const own =
    value.type.name === expected
      ? []
      : [`unexpected type name "${value.type.name}", expected "${expected}", which matches field name path from root Object type`];
  return [...own, ...value.fieldProblems(expected)];
}

/** The types that mutating policies may construct: `JSONPatch`, `Object`, and `Object.` with any path. */
export function resolveMutationType(name: string): CelType | undefined {
  if (name === 'JSONPatch') return JSON_PATCH_TYPE;
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined;
  const type: CelType = objectType(name, (property) => ({ type: DYN, property }), {
    construct: (fields) => new ObjectLiteralValue(type, fields),
  });
  return type;
}

/** Escapes a key for use in the path of a JSON patch. */
function escapeKey(key: string): string {
  return key.replace(/[~/]/g, (char) => (char === '~' ? '~0' : '~1'));
}

export const JSON_PATCH_LIBRARY: CelLibrary = {
  functions: [declare('jsonpatch.escapeKey', overload('string_jsonpatch_escapeKey_string', { args: [STRING], result: STRING }, escapeKey))],
};
