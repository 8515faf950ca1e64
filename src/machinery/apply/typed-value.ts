import { encodeJson } from '../json/encode-json.ts';
import { type EqualBelow, equalByLevels } from '../json/equal-by-levels.ts';
import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { goFloat, goQuote, goValue } from '../values/go-format.ts';
import { encodeValue, keyElement, type PathElement, valueElement } from './path-element.ts';
import type { FieldShape, KeyShape, ListShape, MapShape, Shape } from './shape.ts';

/** The member of a shape that describes a value. */
export type ValueType = 'map' | 'scalar' | 'list';

/** The type of the value; for null or a type that the shape does not allow, the shape's first. */
export function valueTypeOf(shape: Shape, value: JsonValue): ValueType {
  if (typeof value !== 'object') {
    if (shape.scalar !== undefined) return 'scalar';
  } else if (value !== null) {
    if (isJsonArray(value)) {
      if (shape.list !== undefined) return 'list';
    } else if (shape.map !== undefined) return 'map';
  }
  return firstValueType(shape);
}

function firstValueType(shape: Shape): ValueType {
  if (shape.map !== undefined) return 'map';
  return shape.scalar !== undefined ? 'scalar' : 'list';
}

/** Whether both values have the same type. Null has every type, unless the shape allows several. */
export function sameValueType(shape: Shape, a: JsonValue, b: JsonValue): boolean {
  const valueType = valueTypeOf(shape, a);
  if (valueType !== valueTypeOf(shape, b)) return false;
  return (a === null) === (b === null) || hasOneValueType(shape);
}

function hasOneValueType(shape: Shape): boolean {
  return (shape.map === undefined ? 0 : 1) + (shape.scalar === undefined ? 0 : 1) + (shape.list === undefined ? 0 : 1) === 1;
}

/** The value as a map; undefined for null and for anything else. */
export function asMap(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function asList(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return isJsonArray(value) ? value : undefined;
}

export function isEmptyMap(value: JsonObject | undefined): boolean {
  for (const key in value) if (value[key] !== undefined) return false;
  return true;
}

/** The shape of a key: a declared field or a map value; undefined when the shape does not allow it. */
export function memberShape(map: MapShape, key: string): Shape | undefined {
  return map.fields.get(key)?.shape ?? map.values;
}

export function memberElement(declared: FieldShape | undefined, key: string): PathElement {
  return declared === undefined ? `f:${key}` : declared.element;
}

/** A list item without a distinct identity. */
export class ListItemError extends Error {
  override readonly name = 'ListItemError';
}

/** The element that identifies an item in a list of type set or map. */
export function itemElement(list: ListShape, item: JsonValue): PathElement {
  return list.keys === undefined ? setItemElement(item) : keyedItemElement(list, list.keys, item);
}

function setItemElement(item: JsonValue): PathElement {
  if (item === null) throw new ListItemError("associative list without keys has an element that's an explicit null");
  if (isJsonArray(item)) throw new ListItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new ListItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

function keyedItemElement(list: ListShape, keys: readonly KeyShape[], item: JsonValue): PathElement {
  if (item === null) throw new ListItemError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ListItemError('associative list with keys may not have non-map elements');
  const members: string[] = [];
  for (const key of keys) {
    const member = keyMember(key, item);
    if (member !== undefined) members.push(member);
  }
  if (members.length === 0 && keys.length > 0) throw new ListItemError(missingKeysText(list));
  return keyElement(members);
}

function keyMember(key: KeyShape, item: JsonObject): string | undefined {
  const value = getKey(item, key.name);
  return value === undefined ? key.defaultMember : key.prefix + encodeValue(value);
}

function missingKeysText({ keyNames }: ListShape): string {
  const names = keyNames.map(goQuote).join(' ');
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}

/** Deep equality; integers compare by value, as number or bigint. */
export function valuesEqual(a: JsonValue, b: JsonValue): boolean {
  return equalByLevels(compareLevel, a, b);
}

function compareLevel(a: JsonValue, b: JsonValue, equal: EqualBelow<JsonValue>): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return isInteger(a) && isInteger(b) && BigInt(a) === BigInt(b);
  if (a === null || b === null) return false;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i] as JsonValue));
  return isJsonObject(b) && mapsEqual(a as JsonObject, b, equal);
}

function isInteger(value: JsonValue): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function mapsEqual(a: JsonObject, b: JsonObject, equal: EqualBelow<JsonValue>): boolean {
  let count = 0;
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    const other = getKey(b, key);
    if (other === undefined || !equal(value, other)) return false;
    count++;
  }
  for (const key in b) if (b[key] !== undefined) count--;
  return count === 0;
}

/** A value as Go's `%T` names its type. */
export function goTypeName(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (isJsonArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return Number.isInteger(value) || typeof value === 'bigint' ? 'int64' : 'float64';
}

/** A value as Go's `%#v` shows the merge library's wrapper of it. */
export function goWrappedSyntax(value: JsonValue): string {
  return `&value.valueUnstructured{Value:${goSyntax(value)}}`;
}

/** The same with `%v`. */
export function goWrappedText(value: JsonValue): string {
  return `&{${goValue(value)}}`;
}

/** Deeper values are printed as JSON. */
const MAX_GO_SYNTAX_DEPTH = 500;

function goSyntax(value: JsonValue, depth = 0): string {
  if (depth > MAX_GO_SYNTAX_DEPTH) return encodeJson(value);
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goFloat(value);
  if (isJsonArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, depth + 1)).join(', ')}}`;
  if (!isJsonObject(value)) return encodeJson(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${goQuote(key)}:${goSyntax(value[key] ?? null, depth + 1)}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}
