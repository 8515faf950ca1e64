import { type CelLibrary, declare, type FunctionDecl, method, type Overload, overload } from '../check/declarations.ts';
import { add } from '../eval/operators.ts';
import { LIST_MACROS } from '../syntax/macros.ts';
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listType, paramType, STRING, TIMESTAMP, UINT } from '../types.ts';
import { CelList } from '../values/containers.ts';
import { equal, listContains } from '../values/equality.ts';
import { typeOf } from '../values/inspect.ts';
import { compare, isComparable } from '../values/ordering.ts';
import { CelDuration } from '../values/time.ts';
import { CelDouble, type CelInt, CelUint, type CelValue, EvalFailure } from '../values/value.ts';

interface ElementType {
  readonly name: string;
  readonly type: CelType;
}

const COMPARABLE: readonly ElementType[] = [
  { name: 'int', type: INT },
  { name: 'uint', type: UINT },
  { name: 'double', type: DOUBLE },
  { name: 'bool', type: BOOL },
  { name: 'duration', type: DURATION },
  { name: 'timestamp', type: TIMESTAMP },
  { name: 'string', type: STRING },
  { name: 'bytes', type: BYTES },
];
const SUMMABLE: readonly (ElementType & { readonly zero: CelValue })[] = [
  { name: 'int', type: INT, zero: 0 },
  { name: 'uint', type: UINT, zero: new CelUint(0n) },
  { name: 'double', type: DOUBLE, zero: new CelDouble(0) },
  { name: 'duration', type: DURATION, zero: new CelDuration(0n) },
];

function isSorted(list: CelList): boolean {
  const values = list.values();
  return values.every((value, i) => {
    const previous = values[i - 1];
    return i === 0 || previous === undefined || compare(previous, value) <= 0;
  });
}

function extreme(name: string, isBetter: (order: number) => boolean): (list: CelList) => CelValue {
  return (list) => {
    const [first, ...rest] = list.values();
    if (first === undefined) throw new EvalFailure(`${name} called on empty list`);
    return rest.reduce((best, value) => (isBetter(compare(value, best)) ? value : best), first);
  };
}

function perType(name: string, types: readonly ElementType[], build: (element: ElementType) => Overload): FunctionDecl {
  // bounded: spread lists are constants
  return declare(name, ...types.map(build));
}

function indexOf(list: CelList, value: CelValue): number {
  for (let i = 0; i < list.size; i++) if (equal(list.get(i), value)) return i;
  return -1;
}

function lastIndexOf(list: CelList, value: CelValue): number {
  for (let i = list.size - 1; i >= 0; i--) if (equal(list.get(i), value)) return i;
  return -1;
}

const A = paramType('A');
const max = extreme('max', (order) => order > 0);
const min = extreme('min', (order) => order < 0);

/** What Kubernetes adds to lists. */
export const LISTS_LIBRARY: CelLibrary = {
  functions: [
    perType('isSorted', COMPARABLE, ({ name, type }) =>
      method(`list_${name}_is_sorted_bool`, { args: [listType(type)], result: BOOL }, isSorted),
    ),
    declare(
      'sum',
      ...SUMMABLE.map(({ name, type, zero }) =>
        method(`list_${name}_sum_${name}`, { args: [listType(type)], result: type }, (list: CelList) => list.values().reduce(add, zero)),
      ),
    ),
    perType('max', COMPARABLE, ({ name, type }) => method(`list_${name}_max_${name}`, { args: [listType(type)], result: type }, max)),
    perType('min', COMPARABLE, ({ name, type }) => method(`list_${name}_min_${name}`, { args: [listType(type)], result: type }, min)),
    declare('indexOf', method('list_a_index_of_int', { args: [listType(A), A], result: INT }, indexOf)),
    declare('lastIndexOf', method('list_a_last_index_of_int', { args: [listType(A), A], result: INT }, lastIndexOf)),
  ],
};

function slice(list: CelList, start: CelInt, end: CelInt): CelList {
  const call = `slice(${start}, ${end})`;
  if (start < 0 || end < 0) throw new EvalFailure(`cannot ${call}, negative indexes not supported`);
  if (start > end) throw new EvalFailure(`cannot ${call}, start index must be less than or equal to end index`);
  if (end > list.size) throw new EvalFailure(`cannot ${call}, list is length ${list.size}`);
  return CelList.of(list.values().slice(Number(start), Number(end)));
}

function flatten(list: CelList, depth: CelInt = 1): CelList {
  if (depth < 0) throw new EvalFailure('level must be non-negative');
  return CelList.of(flattened(list, Number(depth)));
}

function flattened(list: CelList, depth: number): readonly CelValue[] {
  return list.values().flatMap((value) => (value instanceof CelList && depth > 0 ? flattened(value, depth - 1) : [value]));
}

function sortByKeys(list: CelList, keys: CelList): CelList {
  if (list.size !== keys.size) {
    throw new EvalFailure(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    );
  }
  if (list.size === 0) return list;
  const keyValues = keys.values();
  checkKeys(keyValues);
  const order = keyValues.map((_, i) => i).sort((a, b) => compare(keyValues[a] ?? null, keyValues[b] ?? null));
  return CelList.of(order.map((i) => list.get(i)));
}

function checkKeys(keys: readonly CelValue[]): void {
  const [first] = keys;
  if (first === undefined || !isComparable(first)) throw new EvalFailure('list elements must be comparable');
  if (keys.some((key) => typeOf(key) !== typeOf(first))) throw new EvalFailure('list elements must have the same type');
}

const MAX_RANGE = 10_000_000;

function range(count: CelInt): CelList {
  // Upstream would run out of memory before its cost limit applies.
  if (count > MAX_RANGE) throw new EvalFailure(`lists.range() of ${count} elements is too large`);
  return CelList.of(Array.from({ length: Math.max(Number(count), 0) }, (_, i) => i));
}

function distinct(list: CelList): CelList {
  const unique: CelValue[] = [];
  for (const value of list.values()) if (!unique.some((other) => equal(value, other))) unique.push(value);
  return CelList.of(unique);
}

const T = paramType('T');
const LIST = listType(T);
// The overloads are named after the types' own names.
const sortId = (type: CelType, suffix: string): string => `list_${type.name}_${suffix}`;

/** The lists extension of the language. */
export const LIST_EXTENSIONS_LIBRARY: CelLibrary = {
  functions: [
    declare('slice', method('list_slice', { args: [LIST, INT, INT], result: LIST }, slice)),
    declare(
      'flatten',
      method('list_flatten', { args: [listType(LIST)], result: LIST }, flatten),
      method('list_flatten_int', { args: [listType(DYN), INT], result: listType(DYN) }, flatten),
    ),
    perType('sort', COMPARABLE, ({ type }) =>
      method(sortId(type, 'sort'), { args: [listType(type)], result: listType(type) }, (list: CelList) => sortByKeys(list, list)),
    ),
    perType('@sortByAssociatedKeys', COMPARABLE, ({ type }) =>
      method(sortId(type, 'sortByAssociatedKeys'), { args: [LIST, listType(type)], result: LIST }, sortByKeys),
    ),
    declare('lists.range', overload('lists_range', { args: [INT], result: listType(INT) }, range)),
    declare(
      'reverse',
      method('list_reverse', { args: [LIST], result: LIST }, (list: CelList) => CelList.of(list.values().toReversed())),
    ),
    declare('distinct', method('list_distinct', { args: [LIST], result: LIST }, distinct)),
  ],
  macros: LIST_MACROS,
};

function setContains(list: CelList, part: CelList): boolean {
  return part.values().every((value) => listContains(list, value));
}

const SETS = { args: [LIST, LIST], result: BOOL };

/** Lists taken as sets. */
export const SETS_LIBRARY: CelLibrary = {
  functions: [
    declare('sets.contains', overload('list_sets_contains_list', SETS, setContains)),
    declare(
      'sets.equivalent',
      overload('list_sets_equivalent_list', SETS, (a: CelList, b: CelList) => setContains(a, b) && setContains(b, a)),
    ),
    declare(
      'sets.intersects',
      overload('list_sets_intersects_list', SETS, (a: CelList, b: CelList) => a.values().some((value) => listContains(b, value))),
    ),
  ],
};
