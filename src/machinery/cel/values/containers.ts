import { escapeIdentifier } from '../escaping.ts';
import { type CelType, DYN, elementType, listType } from '../types.ts';
import { CelBoxed } from './boxed.ts';
import { decodeBase64, parseFormattedDuration } from './formatted-strings.ts';
import { isInt64, toInt } from './integers.ts';
import { CelTimestamp, parseTimestamp } from './time.ts';
import { CelDouble, CelUint, type CelValue, EvalFailure, noSuchOverload } from './value.ts';

const DYN_LIST = listType(DYN);

/**
 * A list: either CEL values, or plain data that becomes CEL values as it is read, by the declared type of the
 * elements. The list's type also says how it compares and adds (in order, as a set, by keys).
 */
export class CelList extends CelBoxed {
  readonly items: readonly unknown[];
  readonly type: CelType;
  /** The type by which items are converted; undefined when they are CEL values already. */
  private readonly element: CelType | undefined;

  private constructor(items: readonly unknown[], type: CelType, element: CelType | undefined) {
    super();
    this.items = items;
    this.type = type;
    this.element = element;
  }

  static of(values: readonly CelValue[], type: CelType = DYN_LIST): CelList {
    return new CelList(values, type, undefined);
  }

  static fromNative(items: readonly unknown[], type: CelType): CelList {
    return new CelList(items, type, elementType(type));
  }

  get size(): number {
    return this.items.length;
  }

  /** The plain data behind the list, where that is what it was made of. */
  get raw(): readonly unknown[] | undefined {
    return this.element === undefined ? undefined : this.items;
  }

  get(index: number): CelValue {
    const item = this.items[index];
    return this.element === undefined ? (item as CelValue) : fromNative(item, this.element);
  }

  values(): readonly CelValue[] {
    const element = this.element;
    if (element === undefined) return this.items as readonly CelValue[];
    return this.items.map((item) => fromNative(item, element));
  }
}

/** What a map's entry is stored under: equal keys of different numeric types are one key. */
type MapKey = string | boolean | number | bigint;

export interface MapEntry {
  readonly key: CelValue;
  readonly value: CelValue;
}

export abstract class CelMap extends CelBoxed {
  abstract readonly size: number;

  /** The value of a key, or undefined where there is none. */
  abstract find(key: CelValue): CelValue | undefined;

  abstract keys(): Iterable<CelValue>;
}

/** A map that an expression built. */
export class EntryMap extends CelMap {
  private readonly entries: ReadonlyMap<MapKey, MapEntry>;

  constructor(entries: ReadonlyMap<MapKey, MapEntry>) {
    super();
    this.entries = entries;
  }

  static from(entries: Iterable<MapEntry>): EntryMap {
    const builder = new MapBuilder();
    for (const entry of entries) builder.set(entry.key, entry.value);
    return builder.build();
  }

  get size(): number {
    return this.entries.size;
  }

  find(key: CelValue): CelValue | undefined {
    const mapKey = toMapKey(key);
    return mapKey === undefined ? undefined : this.entries.get(mapKey)?.value;
  }

  *keys(): Iterable<CelValue> {
    for (const entry of this.entries.values()) yield entry.key;
  }
}

export class MapBuilder {
  private readonly entries = new Map<MapKey, MapEntry>();

  set(key: CelValue, value: CelValue): void {
    this.entries.set(requireMapKey(key), { key, value });
  }

  has(key: CelValue): boolean {
    return this.entries.has(requireMapKey(key));
  }

  delete(key: CelValue): void {
    this.entries.delete(requireMapKey(key));
  }

  build(): EntryMap {
    return new EntryMap(this.entries);
  }
}

function requireMapKey(key: CelValue): MapKey {
  const mapKey = toMapKey(key);
  if (mapKey === undefined) throw new EvalFailure('unsupported key type');
  return mapKey;
}

/** The key of equal scalars, whatever their numeric type; undefined for non-scalars. */
export function toMapKey(key: CelValue): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return key;
    default:
      if (key instanceof CelUint) return canonicalInteger(key.value);
      if (key instanceof CelDouble) return Number.isInteger(key.value) ? canonicalInteger(BigInt(key.value)) : key.value;
      return undefined;
  }
}

function canonicalInteger(value: bigint): MapKey {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : value;
}

type PlainObject = Readonly<Record<string, unknown>>;

/** A JSON object as a map: its keys are data. */
export class NativeMap extends CelMap {
  readonly raw: PlainObject;
  private readonly element: CelType;

  constructor(raw: PlainObject, element: CelType) {
    super();
    this.raw = raw;
    this.element = element;
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') {
      if (this.element.isDynamic) return undefined;
      throw noSuchOverload();
    }
    return Object.hasOwn(this.raw, key) ? fromNative(this.raw[key], this.element) : undefined;
  }

  keys(): Iterable<CelValue> {
    return Object.keys(this.raw);
  }
}

/** A JSON object with declared fields. A field that is null counts as absent. */
export class NativeObject extends CelMap {
  readonly raw: PlainObject;
  readonly type: CelType;

  constructor(raw: PlainObject, type: CelType) {
    super();
    this.raw = raw;
    this.type = type;
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload();
    const field = this.type.traits.fields?.(key);
    if (field === undefined || !Object.hasOwn(this.raw, field.property)) return undefined;
    const value = this.raw[field.property];
    return value === null || value === undefined ? undefined : fromNative(value, field.type);
  }

  *keys(): Iterable<CelValue> {
    for (const property of Object.keys(this.raw)) {
      const name = this.nameOf(property);
      if (name !== undefined) yield name;
    }
  }

  /** The name expressions use for a property, or undefined where it is not declared. */
  nameOf(property: string): string | undefined {
    const name = escapeIdentifier(property) ?? property;
    return this.type.traits.fields?.(name) === undefined ? undefined : name;
  }
}

/** Converts plain data to a CEL value of the declared type. CEL values are returned unchanged. */
export function fromNative(raw: unknown, type: CelType): CelValue {
  const convert = type.traits.convert;
  if (convert !== undefined && !isCelObjectValue(raw)) return convert(raw);
  switch (type.kind) {
    case 'string':
      if (typeof raw === 'string') return raw;
      break;
    case 'int':
      if (typeof raw === 'number' && Number.isSafeInteger(raw)) return raw;
      break;
    case 'bool':
      if (typeof raw === 'boolean') return raw;
      break;
    case 'struct':
      if (isPlainObject(raw)) return new NativeObject(raw, type);
      break;
    case 'list':
      if (Array.isArray(raw)) return CelList.fromNative(raw, type);
      break;
    case 'map':
      if (isPlainObject(raw)) return new NativeMap(raw, elementType(type));
      break;
    default:
      break;
  }
  return convertRare(raw, type);
}

function isCelObjectValue(raw: unknown): raw is CelValue {
  return raw instanceof CelBoxed || raw instanceof Uint8Array;
}

function isPlainObject(raw: unknown): raw is PlainObject {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !isCelObjectValue(raw);
}

function convertRare(raw: unknown, type: CelType): CelValue {
  if (isCelObjectValue(raw)) return raw;
  if (type.isDynamic || type.kind === 'param') return fromDynamic(raw);
  if (raw === null || raw === undefined) {
    if (type.traits.nullable === true) return null;
    throw new EvalFailure('invalid data, got null for schema with nullable=false');
  }
  return convertScalar(raw, type);
}

function fromDynamic(raw: unknown): CelValue {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : new CelDouble(raw);
  if (raw === null || typeof raw === 'string' || typeof raw === 'boolean') return raw;
  if (typeof raw === 'bigint') return isInt64(raw) ? toInt(raw) : new CelDouble(Number(raw));
  if (Array.isArray(raw)) return CelList.fromNative(raw, DYN_LIST);
  if (typeof raw === 'object') return new NativeMap(raw as PlainObject, DYN);
  throw new EvalFailure(`unsupported conversion to ref.Val: (${goTypeName(raw)})`);
}

function convertScalar(raw: unknown, type: CelType): CelValue {
  switch (type.kind) {
    case 'int':
      if (typeof raw === 'bigint' && isInt64(raw)) return toInt(raw);
      throw new EvalFailure(`invalid data, expected int, got ${goTypeName(raw)}`);
    case 'uint':
      if (typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= 0) return new CelUint(BigInt(raw));
      throw new EvalFailure(`invalid data, expected uint, got ${goTypeName(raw)}`);
    case 'double':
      if (typeof raw === 'number' || typeof raw === 'bigint') return new CelDouble(Number(raw));
      throw new EvalFailure(`invalid data, expected float, got ${goTypeName(raw)}`);
    case 'bool':
      throw new EvalFailure(`invalid data, expected bool, got ${goTypeName(raw)}`);
    case 'struct':
    case 'map':
      throw new EvalFailure('invalid data, expected a map for the provided schema with type=object');
    case 'list':
      throw new EvalFailure('invalid data, expected an array for the provided schema with type=array');
    default:
      return convertText(raw, type);
  }
}

function convertText(raw: unknown, type: CelType): CelValue {
  if (typeof raw !== 'string') throw new EvalFailure(`invalid data, expected string, got ${goTypeName(raw)}`);
  switch (type.kind) {
    case 'timestamp':
      return requireTimestamp(raw);
    case 'duration':
      return parseFormattedDuration(raw);
    case 'bytes':
      return decodeBase64(raw);
    default:
      throw new EvalFailure(`invalid data, expected ${type.name}, got string`);
  }
}

function requireTimestamp(text: string): CelTimestamp {
  if (text === '') return new CelTimestamp(0, 0);
  const time = parseTimestamp(text, { localAllowed: true });
  if (time === undefined) throw new EvalFailure(`Invalid date-time formatted string ${text}: cannot parse as a date-time`);
  return time;
}

/** The name Go gives to the type of decoded JSON, as messages show it. */
export function goTypeName(raw: unknown): string {
  if (raw === null || raw === undefined) return '<nil>';
  if (typeof raw === 'number') return Number.isInteger(raw) ? 'int64' : 'float64';
  if (typeof raw === 'bigint') return 'int64';
  if (typeof raw === 'boolean') return 'bool';
  if (typeof raw === 'string') return 'string';
  return Array.isArray(raw) ? '[]interface {}' : 'map[string]interface {}';
}
