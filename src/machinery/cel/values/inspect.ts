import { type JsonValue, type MutableJsonObject, setKey } from '../../json/json-value.ts';
import { goFloat } from '../../values/go-format.ts';
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  optionalType,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from '../types.ts';
import { CelList, CelMap, NativeMap, NativeObject } from './containers.ts';
import { CelDuration, CelTimestamp, formatDuration, formatTimestamp } from './time.ts';
import { CelDouble, CelObject, CelOptional, CelUint, type CelValue, EvalFailure } from './value.ts';

const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);
const OPTIONAL = optionalType(DYN);

/** The type of a value at run time. Objects of a schema are maps, as they are upstream. */
export function typeOf(value: CelValue): CelType {
  switch (typeof value) {
    case 'string':
      return STRING;
    case 'boolean':
      return BOOL;
    case 'number':
    case 'bigint':
      return INT;
    default:
      return typeOfObject(value);
  }
}

function typeOfObject(value: CelValue): CelType {
  if (value === null) return NULL;
  if (value instanceof CelMap) return MAP;
  if (value instanceof CelList) return LIST;
  if (value instanceof CelDouble) return DOUBLE;
  if (value instanceof CelUint) return UINT;
  if (value instanceof CelTimestamp) return TIMESTAMP;
  if (value instanceof CelDuration) return DURATION;
  if (value instanceof CelOptional) return OPTIONAL;
  if (value instanceof CelType) return TYPE;
  return value instanceof CelObject ? value.type : BYTES;
}

/** Whether a value may be passed where a function declares the type: of lists and maps the first element decides. */
export function matchesType(value: CelValue, type: CelType): boolean {
  if (type.isDynamic || type.kind === 'param') return true;
  if (typeOf(value).name !== type.name) return false;
  if (value instanceof CelList) return value.size === 0 || type.params[0] === undefined || matchesType(value.get(0), type.params[0]);
  return !(value instanceof CelMap) || matchesEntry(value, type);
}

function matchesEntry(map: CelMap, type: CelType): boolean {
  const [keyType, valueType] = type.params;
  for (const key of map.keys()) {
    const value = map.find(key);
    return (
      (keyType === undefined || matchesType(key, keyType)) &&
      (valueType === undefined || value === undefined || matchesType(value, valueType))
    );
  }
  return true;
}

/** The number of Unicode characters of a string. */
export function stringSize(text: string): number {
  const length = text.length;
  let size = length;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < length && isLowSurrogate(text.charCodeAt(i + 1))) {
      size--;
      i++;
    }
  }
  return size;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The size that cost accounting gives a value: its size() where it has one, else 1. */
export function costSize(value: CelValue): number {
  if (typeof value === 'string') return stringSize(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return value instanceof CelObject ? value.costSize : 1;
}

export function isZeroValue(value: CelValue): boolean {
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (value === null) return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelDuration) return value.nanos === 0n;
  // The zero time of Go is the first instant of year 1.
  if (value instanceof CelTimestamp) return value.seconds === -62135596800 && value.nanos === 0;
  return value instanceof CelObject && value.isZero;
}

/** A value as messages print it. */
export function displayValue(value: CelValue): string {
  if (typeof value !== 'object') return String(value);
  if (value === null) return 'null';
  if (value instanceof CelDouble) return goFloat(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelList) return `[${value.values().map(displayValue).join(', ')}]`;
  if (value instanceof CelMap) return displayMap(value);
  if (value instanceof Uint8Array) return `[${value.join(' ')}]`;
  if (value instanceof CelOptional) return value.value === undefined ? 'optional.none()' : `optional(${displayValue(value.value)})`;
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  return value instanceof CelType ? value.name : value.type.name;
}

function displayMap(map: CelMap): string {
  const entries = [...map.keys()].map((key) => `${displayValue(key)}: ${displayValue(map.find(key) ?? null)}`);
  return `{${entries.join(', ')}}`;
}

/** A result as plain JSON-shaped data. Throws an EvalFailure for values that have no such form. */
export function toJson(value: CelValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
  if (value instanceof CelList) return (value.raw as readonly JsonValue[] | undefined) ?? value.values().map(toJson);
  if (value instanceof NativeMap || value instanceof NativeObject) return value.raw as JsonValue;
  if (value instanceof CelMap) return mapToJson(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelOptional) return toJson(value.unwrap());
  if (value instanceof CelObject) return value.toJson();
  throw new EvalFailure(`type conversion not supported for 'type'`);
}

function mapToJson(map: CelMap): JsonValue {
  const json: MutableJsonObject = {};
  for (const key of map.keys()) {
    if (typeof key !== 'string') throw new EvalFailure(`map key ${JSON.stringify(displayValue(key))} is not a string`);
    setKey(json, key, toJson(map.find(key) ?? null));
  }
  return json;
}
