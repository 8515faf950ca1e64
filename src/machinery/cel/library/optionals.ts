import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { OPTIONAL_MACROS, TWO_VARIABLE_MACROS } from '../syntax/macros.ts';
import { BOOL, DYN, INT, listType, mapType, optionalType, paramType, STRING } from '../types.ts';
import { CelList, type CelMap, type EntryMap, MapBuilder } from '../values/containers.ts';
import { displayValue, isZeroValue } from '../values/inspect.ts';
import { CelOptional, type CelValue, EvalFailure } from '../values/value.ts';

const K = paramType('K');
const V = paramType('V');
const OPTIONAL = optionalType(V);
const LIST = listType(V);
const MAP = mapType(K, V);

function unwrapAll(list: CelList): CelList {
  const values = list.values().flatMap((value) => {
    if (!(value instanceof CelOptional)) throw new EvalFailure(`value ${displayValue(value)} is not optional`);
    return value.value === undefined ? [] : [value.value];
  });
  return CelList.of(values);
}

function at(list: CelList, index: number): CelOptional {
  return list.size === 0 ? CelOptional.none : CelOptional.of(list.get(index));
}

/** Values that may be missing. The evaluator handles `or`, `orValue` and the operators itself. */
export const OPTIONAL_LIBRARY: CelLibrary = {
  types: [optionalType(DYN)],
  macros: OPTIONAL_MACROS,
  functions: [
    declare(
      'optional.of',
      overload('optional_of', { args: [V], result: OPTIONAL }, (value: CelValue) => CelOptional.of(value)),
    ),
    declare(
      'optional.ofNonZeroValue',
      overload('optional_ofNonZeroValue', { args: [V], result: OPTIONAL }, (value: CelValue) =>
        isZeroValue(value) ? CelOptional.none : CelOptional.of(value),
      ),
    ),
    declare(
      'optional.none',
      overload('optional_none', { args: [], result: OPTIONAL }, () => CelOptional.none),
    ),
    declare(
      'value',
      method('optional_value', { args: [OPTIONAL], result: V }, (optional: CelOptional) => optional.unwrap()),
    ),
    declare(
      'hasValue',
      method('optional_hasValue', { args: [OPTIONAL], result: BOOL }, (optional: CelOptional) => optional.hasValue),
    ),
    declare('or', method('optional_or_optional', { args: [OPTIONAL, OPTIONAL], result: OPTIONAL })),
    declare('orValue', method('optional_orValue_value', { args: [OPTIONAL, V], result: V })),
    declare('_?._', overload('select_optional_field', { args: [DYN, STRING], result: OPTIONAL })),
    declare(
      '_[?_]',
      overload('list_optindex_optional_int', { args: [LIST, INT], result: OPTIONAL }),
      overload('optional_list_optindex_optional_int', { args: [optionalType(LIST), INT], result: OPTIONAL }),
      overload('map_optindex_optional_value', { args: [MAP, K], result: OPTIONAL }),
      overload('optional_map_optindex_optional_value', { args: [optionalType(MAP), K], result: OPTIONAL }),
    ),
    declare(
      '_[_]',
      overload('optional_list_index_int', { args: [optionalType(LIST), INT], result: OPTIONAL }),
      overload('optional_map_index_value', { args: [optionalType(MAP), K], result: OPTIONAL }),
    ),
    declare(
      'last',
      method('list_last', { args: [LIST], result: OPTIONAL }, (list: CelList) => at(list, list.size - 1)),
    ),
    declare(
      'first',
      method('list_first', { args: [LIST], result: OPTIONAL }, (list: CelList) => at(list, 0)),
    ),
    declare('optional.unwrap', overload('optional_unwrap', { args: [listType(OPTIONAL)], result: LIST }, unwrapAll)),
    declare('unwrapOpt', method('optional_unwrapOpt', { args: [listType(OPTIONAL)], result: LIST }, unwrapAll)),
  ],
};

/** Adds an entry to a map that is being collected. */
export function insertEntry(builder: MapBuilder, key: CelValue, value: CelValue): void {
  if (builder.has(key)) throw new EvalFailure(`insert failed: key ${displayValue(key)} already exists`);
  builder.set(key, value);
}

function copyOf(map: CelMap): MapBuilder {
  const builder = new MapBuilder();
  for (const key of map.keys()) builder.set(key, map.find(key) ?? null);
  return builder;
}

function mapInsert(map: CelMap, key: CelValue, value: CelValue): EntryMap {
  const builder = copyOf(map);
  insertEntry(builder, key, value);
  return builder.build();
}

function mapInsertAll(map: CelMap, added: CelMap): EntryMap {
  const builder = copyOf(map);
  for (const key of added.keys()) insertEntry(builder, key, added.find(key) ?? null);
  return builder.build();
}

/** Comprehensions over two variables. */
export const TWO_VARIABLE_LIBRARY: CelLibrary = {
  macros: TWO_VARIABLE_MACROS,
  functions: [
    declare(
      'cel.@mapInsert',
      overload('@mapInsert_map_key_value', { args: [MAP, K, V], result: MAP }, mapInsert),
      overload('@mapInsert_map_map', { args: [MAP, MAP], result: MAP }, mapInsertAll),
    ),
  ],
};
