import { CelType } from '../types.ts';
import { CelList, CelMap, fromNative, NativeObject, toMapKey } from './containers.ts';
import { CelDuration, CelTimestamp, compareTimestamps } from './time.ts';
import { CelDouble, type CelInt, CelObject, CelOptional, CelUint, type CelValue, noSuchOverload } from './value.ts';

/** CEL's `==`: numbers compare by value across their types, everything else within its type. */
export function equal(a: CelValue, b: CelValue): boolean {
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return a === b;
    case 'number':
    case 'bigint':
      return typeof b === 'number' || typeof b === 'bigint' ? a === b : equalIntTo(a, b);
    default:
      return a === null || b === null ? a === b : equalObjects(a, b);
  }
}

function equalIntTo(a: CelInt, b: CelValue): boolean {
  if (b instanceof CelDouble) return compareIntDouble(a, b.value) === 0;
  return b instanceof CelUint && BigInt(a) === b.value;
}

function equalObjects(a: Exclude<CelValue, null>, b: Exclude<CelValue, null>): boolean {
  if (a instanceof CelMap) return equalMaps(a, b);
  if (a instanceof CelList) return equalLists(a, b);
  if (a instanceof CelDouble) return equalDouble(a.value, b);
  if (a instanceof CelUint) return equalUint(a.value, b);
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && compareTimestamps(a, b) === 0;
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelOptional) return equalOptionals(a, b);
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof CelObject) return a.equals(b);
  return a instanceof Uint8Array && b instanceof Uint8Array && compareByteArrays(a, b) === 0;
}

function equalDouble(a: number, b: CelValue): boolean {
  if (b instanceof CelDouble) return a === b.value;
  if (Number.isNaN(a)) return false;
  if (typeof b === 'number' || typeof b === 'bigint') return compareIntDouble(b, a) === 0;
  return b instanceof CelUint && compareUintDouble(b.value, a) === 0;
}

function equalUint(a: bigint, b: CelValue): boolean {
  if (b instanceof CelUint) return a === b.value;
  if (typeof b === 'number' || typeof b === 'bigint') return a === BigInt(b);
  return b instanceof CelDouble && !Number.isNaN(b.value) && compareUintDouble(a, b.value) === 0;
}

function equalOptionals(a: CelOptional, b: CelValue): boolean {
  if (!(b instanceof CelOptional)) return false;
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

/** Compares an int with a double as upstream does: by doubles, once the double is within 64 bits. */
export function compareIntDouble(a: CelInt, b: number): number {
  if (b < -(2 ** 63)) return 1;
  if (b > 2 ** 63) return -1;
  return sign(Number(a) - b);
}

export function compareUintDouble(a: bigint, b: number): number {
  if (b < 0) return 1;
  if (b > 2 ** 64) return -1;
  return sign(Number(a) - b);
}

function sign(difference: number): number {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

export function compareByteArrays(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

function equalLists(a: CelList, b: CelValue): boolean {
  if (!(b instanceof CelList)) return false;
  if (a.size !== b.size) return false;
  switch (a.type.traits.listKind) {
    case 'set':
      return containsAll(ValueSet.of(a), b);
    case 'map':
      return equalMapLists(a, b);
    default:
      return equalInOrder(a, b);
  }
}

function containsAll(set: ValueSet, list: CelList): boolean {
  return list.values().every((item) => set.has(item));
}

function equalInOrder(a: CelList, b: CelList): boolean {
  for (let i = 0; i < a.size; i++) if (!equal(a.get(i), b.get(i))) return false;
  return true;
}

function equalMapLists(a: CelList, b: CelList): boolean {
  const byKey = new Map(a.values().map((item) => [listMapKey(item, a.type), item]));
  return b.values().every((item) => {
    const other = byKey.get(listMapKey(item, a.type));
    return other !== undefined && equal(other, item);
  });
}

/** The identity of an element in a list of kind `map`: the values of its key fields. */
export function listMapKey(item: CelValue, type: CelType): string {
  if (!(item instanceof CelMap)) throw noSuchOverload();
  const keys = type.traits.listMapKeys ?? [];
  return JSON.stringify(keys.map((key) => keyPart(rawField(item, key))));
}

function rawField(item: CelMap, property: string): CelValue | undefined {
  const name = item instanceof NativeObject ? item.nameOf(property) : property;
  return name === undefined ? undefined : item.find(name);
}

function keyPart(value: CelValue | undefined): string {
  const key = value === undefined ? undefined : toMapKey(value);
  return `${typeof key}:${String(key)}`;
}

export function listContains(list: CelList, value: CelValue): boolean {
  for (let i = 0; i < list.size; i++) if (equal(list.get(i), value)) return true;
  return false;
}

function equalMaps(a: CelMap, b: CelValue): boolean {
  if (!(b instanceof CelMap) || a.size !== b.size) return false;
  if (a instanceof NativeObject) return equalNativeObject(a, b);
  for (const key of a.keys()) {
    const left = a.find(key);
    const right = b.find(key);
    if (left === undefined || right === undefined || !equal(left, right)) return false;
  }
  return true;
}

/** Declared fields compare by their types, others as plain data. */
function equalNativeObject(a: NativeObject, b: CelMap): boolean {
  for (const property of Object.keys(a.raw)) {
    const name = a.nameOf(property);
    if (name === undefined ? !equalUndeclared(a, b, property) : !equalField(a.find(name), b.find(name))) return false;
  }
  return true;
}

function equalField(a: CelValue | undefined, b: CelValue | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equal(a, b);
}

function equalUndeclared(a: NativeObject, b: CelMap, property: string): boolean {
  if (!(b instanceof NativeObject)) throw noSuchOverload();
  if (!Object.hasOwn(b.raw, property)) return true;
  return equal(fromNative(a.raw[property], UNDECLARED), fromNative(b.raw[property], UNDECLARED));
}

const UNDECLARED = new CelType('dyn', 'dyn');

/** Values without duplicates, by CEL's equality. Scalars are looked up; lists and maps are compared one by one. */
export class ValueSet {
  readonly #keys = new Set<string | boolean | number | bigint>();
  readonly #others: CelValue[] = [];

  static of(list: CelList): ValueSet {
    const set = new ValueSet();
    for (const value of list.values()) set.add(value);
    return set;
  }

  has(value: CelValue): boolean {
    const key = keyOf(value);
    return key === undefined ? this.#others.some((other) => equal(other, value)) : this.#keys.has(key);
  }

  /** Returns whether the value is new. */
  add(value: CelValue): boolean {
    const isNew = !this.has(value);
    const key = keyOf(value);
    if (key !== undefined) this.#keys.add(key);
    else if (isNew) this.#others.push(value);
    return isNew;
  }
}

/** Numbers of different types are equal by their value; NaN equals nothing. */
function keyOf(value: CelValue): string | boolean | number | bigint | undefined {
  return value instanceof CelDouble && Number.isNaN(value.value) ? undefined : toMapKey(value);
}
