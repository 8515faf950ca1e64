import { lookupTable } from '#base';
import { CelList, CelMap } from '../values/containers.ts';
import { listContains, listMapKey, ValueSet } from '../values/equality.ts';
import { displayValue, typeOf } from '../values/inspect.ts';
import {
  addInt,
  divideInt,
  divideUint,
  doubleToIntLossless,
  moduloInt,
  moduloUint,
  multiplyInt,
  negateInt,
  subtractInt,
  toUint,
} from '../values/integers.ts';
import { compare, isComparable } from '../values/ordering.ts';
import { addDuration, CelDuration, CelTimestamp, subtractDuration, subtractTimestamps } from '../values/time.ts';
import { CelDouble, type CelInt, CelObject, CelOptional, CelUint, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';

export function isInt(value: CelValue): value is CelInt {
  return typeof value === 'number' || typeof value === 'bigint';
}

function unsupported(operator: string): EvalFailure {
  return new EvalFailure(`no such overload: ${operator}`);
}

export function add(a: CelValue, b: CelValue): CelValue {
  if (isInt(a) && isInt(b)) return addInt(a, b);
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (a instanceof CelList && b instanceof CelList) return addLists(a, b);
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value + b.value);
  if (a instanceof CelUint && b instanceof CelUint) return new CelUint(toUint(a.value + b.value));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return new Uint8Array(Buffer.concat([a, b]));
  return addTimes(a, b);
}

function addTimes(a: CelValue, b: CelValue): CelValue {
  if (a instanceof CelDuration && b instanceof CelDuration) return new CelDuration(a.nanos + b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return addDuration(a, b);
  if (a instanceof CelDuration && b instanceof CelTimestamp) return addDuration(b, a);
  const canAdd = isComparable(a) && typeof a !== 'boolean';
  throw canAdd || a instanceof CelList ? noSuchOverload() : unsupported('_+_');
}

/** Concatenates; lists that are sets or maps by their declaration merge instead. */
function addLists(a: CelList, b: CelList): CelList {
  if (a.type.traits.listKind === 'set') return addSets(a, b);
  if (a.type.traits.listKind === 'map') return addMapLists(a, b);
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  return CelList.of([...a.values(), ...b.values()]);
}

function addSets(a: CelList, b: CelList): CelList {
  const seen = ValueSet.of(a);
  return CelList.of([...a.values(), ...b.values().filter((item) => seen.add(item))], a.type);
}

function addMapLists(a: CelList, b: CelList): CelList {
  const values = [...a.values()];
  const positions = new Map(values.map((item, i) => [listMapKey(item, a.type), i]));
  for (const item of b.values()) {
    const position = positions.get(listMapKey(item, a.type));
    if (position === undefined) values.push(item);
    else values[position] = item;
  }
  return CelList.of(values, a.type);
}

export function subtract(a: CelValue, b: CelValue): CelValue {
  if (isInt(a) && isInt(b)) return subtractInt(a, b);
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value - b.value);
  if (a instanceof CelUint && b instanceof CelUint) return new CelUint(toUint(a.value - b.value));
  if (a instanceof CelDuration && b instanceof CelDuration) return new CelDuration(a.nanos - b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelDuration) return subtractDuration(a, b);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return subtractTimestamps(a, b);
  throw isArithmetic(a) || a instanceof CelDuration || a instanceof CelTimestamp ? noSuchOverload() : unsupported('_-_');
}

export function isArithmetic(value: CelValue): boolean {
  return isInt(value) || value instanceof CelDouble || value instanceof CelUint;
}

export function multiply(a: CelValue, b: CelValue): CelValue {
  if (isInt(a) && isInt(b)) return multiplyInt(a, b);
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value * b.value);
  if (a instanceof CelUint && b instanceof CelUint) return new CelUint(toUint(a.value * b.value));
  throw isArithmetic(a) ? noSuchOverload() : unsupported('_*_');
}

export function divide(a: CelValue, b: CelValue): CelValue {
  if (isInt(a) && isInt(b)) return divideInt(a, b);
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value / b.value);
  if (a instanceof CelUint && b instanceof CelUint) return new CelUint(divideUint(a.value, b.value));
  throw isArithmetic(a) ? noSuchOverload() : unsupported('_/_');
}

export function modulo(a: CelValue, b: CelValue): CelValue {
  if (isInt(a) && isInt(b)) return moduloInt(a, b);
  if (a instanceof CelUint && b instanceof CelUint) return new CelUint(moduloUint(a.value, b.value));
  throw isInt(a) || a instanceof CelUint ? noSuchOverload() : unsupported('_%_');
}

export function negate(value: CelValue): CelValue {
  if (isInt(value)) return negateInt(value);
  if (value instanceof CelDouble) return new CelDouble(-value.value);
  if (value instanceof CelDuration) return new CelDuration(-value.nanos);
  throw typeof value === 'boolean' ? noSuchOverload() : unsupported('-_');
}

export function not(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload();
  return !value;
}

function order(operator: string, a: CelValue, b: CelValue): number {
  if (!isComparable(a) || a === null) throw unsupported(operator);
  return compare(a, b);
}

export const less = (a: CelValue, b: CelValue): boolean => order('_<_', a, b) < 0;
export const lessEquals = (a: CelValue, b: CelValue): boolean => order('_<=_', a, b) <= 0;
export const greater = (a: CelValue, b: CelValue): boolean => order('_>_', a, b) > 0;
export const greaterEquals = (a: CelValue, b: CelValue): boolean => order('_>=_', a, b) >= 0;

export function contains(value: CelValue, container: CelValue): boolean {
  if (container instanceof CelList) return listContains(container, value);
  if (container instanceof CelMap) return container.find(value) !== undefined;
  throw noSuchOverload();
}

/** `operand.name`; an optional operand gives an optional result. */
export function selectField(operand: CelValue, name: string): CelValue {
  if (operand instanceof CelOptional) return selectOptional(operand, name);
  const value = findField(operand, name);
  if (value === undefined) throw new EvalFailure(`no such key: ${name}`);
  return value;
}

function findField(operand: CelValue, name: string): CelValue | undefined {
  if (operand instanceof CelMap) return operand.find(name);
  return operand instanceof CelObject ? operand.getField(name) : undefined;
}

/** `operand.?name`: an optional of the field, if it is there. */
export function selectOptional(operand: CelValue, name: string): CelOptional {
  const inner = operand instanceof CelOptional ? operand.value : operand;
  const value = inner === undefined ? undefined : findField(inner, name);
  return value === undefined ? CelOptional.none : CelOptional.of(value);
}

/** `has(operand.name)`. */
export function hasField(operand: CelValue, name: string): boolean {
  if (operand instanceof CelOptional) return selectOptional(operand, name).hasValue;
  return findField(operand, name) !== undefined;
}

/** `operand[key]`. */
export function index(operand: CelValue, key: CelValue): CelValue {
  if (operand instanceof CelOptional) return indexOptional(operand, key);
  const value = findIndex(operand, key);
  if (value !== undefined) return value;
  throw new EvalFailure(operand instanceof CelList ? `index out of bounds: ${displayValue(key)}` : `no such key: ${displayValue(key)}`);
}

/** `operand[?key]`. */
export function indexOptional(operand: CelValue, key: CelValue): CelOptional {
  const inner = operand instanceof CelOptional ? operand.value : operand;
  const value = inner === undefined ? undefined : findIndex(inner, key);
  return value === undefined ? CelOptional.none : CelOptional.of(value);
}

function findIndex(operand: CelValue, key: CelValue): CelValue | undefined {
  if (operand instanceof CelList) {
    const position = listIndex(key);
    return position >= 0 && position < operand.size ? operand.get(Number(position)) : undefined;
  }
  if (operand instanceof CelMap) return operand.find(key);
  return typeof key === 'string' ? findField(operand, key) : undefined;
}

function listIndex(key: CelValue): CelInt {
  if (isInt(key)) return key;
  const lossless = key instanceof CelDouble ? doubleToIntLossless(key.value) : key instanceof CelUint ? Number(key.value) : undefined;
  if (lossless !== undefined) return lossless;
  if (key instanceof CelDouble) throw new EvalFailure(`unsupported index value ${displayValue(key)} in list`);
  throw new EvalFailure(`unsupported index type '${typeOf(key).name}' in list`);
}

const GO_TYPE_NAMES = lookupTable<string>({
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  null_type: 'types.Null',
  optional_type: '*types.Optional',
  type: '*types.Type',
  'google.protobuf.Timestamp': 'types.Timestamp',
  'google.protobuf.Duration': 'types.Duration',
});

/** The range of a comprehension, or the error for values that are no range. */
export function requireRange(value: CelValue, isTwoVariable: boolean): CelList | CelMap {
  if (value instanceof CelList || value instanceof CelMap) return value;
  const name = GO_TYPE_NAMES[typeOf(value).name] ?? typeOf(value).name;
  throw new EvalFailure(isTwoVariable ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`);
}
