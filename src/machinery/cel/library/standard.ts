import {
  type CelLibrary,
  declare,
  type FunctionDecl,
  type Implementation,
  method,
  type Overload,
  overload,
} from '../check/declarations.ts';
import { Regex } from '../regexp/regex.ts';
import { RegexError } from '../regexp/syntax.ts';
import { STANDARD_MACROS } from '../syntax/macros.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  paramType,
  STRING,
  TIMESTAMP,
  TYPE,
  typeType,
  UINT,
} from '../types.ts';
import type { CelList, CelMap } from '../values/containers.ts';
import { boolFrom, bytesFrom, doubleFrom, durationFrom, intFrom, stringFrom, timestampFrom, uintFrom } from '../values/conversions.ts';
import { stringSize, typeOf } from '../values/inspect.ts';
import { toInt } from '../values/integers.ts';
import { type CelDuration, type CelTimestamp, type CivilTime, civilTime, zoneOffsetAt } from '../values/time.ts';
import { type CelValue, EvalFailure } from '../values/value.ts';

const A = paramType('A');
const B = paramType('B');
const LIST = listType(A);
const MAP = mapType(A, B);

const identity = (value: CelValue): CelValue => value;

function arithmetic(name: string, word: string, types: readonly { readonly id: string; readonly type: CelType }[]): FunctionDecl {
  // bounded: spread lists are constants
  return declare(name, ...types.map(({ id, type }) => overload(`${word}_${id}`, { args: [type, type], result: type })));
}

const NUMBERS = [
  { id: 'double', type: DOUBLE },
  { id: 'int64', type: INT },
  { id: 'uint64', type: UINT },
];

const ADD = declare(
  '_+_',
  overload('add_bytes', { args: [BYTES, BYTES], result: BYTES }),
  overload('add_double', { args: [DOUBLE, DOUBLE], result: DOUBLE }),
  overload('add_duration_duration', { args: [DURATION, DURATION], result: DURATION }),
  overload('add_duration_timestamp', { args: [DURATION, TIMESTAMP], result: TIMESTAMP }),
  overload('add_timestamp_duration', { args: [TIMESTAMP, DURATION], result: TIMESTAMP }),
  overload('add_int64', { args: [INT, INT], result: INT }),
  overload('add_list', { args: [LIST, LIST], result: LIST }),
  overload('add_string', { args: [STRING, STRING], result: STRING }),
  overload('add_uint64', { args: [UINT, UINT], result: UINT }),
);

const SUBTRACT = declare(
  '_-_',
  overload('subtract_double', { args: [DOUBLE, DOUBLE], result: DOUBLE }),
  overload('subtract_duration_duration', { args: [DURATION, DURATION], result: DURATION }),
  overload('subtract_int64', { args: [INT, INT], result: INT }),
  overload('subtract_timestamp_duration', { args: [TIMESTAMP, DURATION], result: TIMESTAMP }),
  overload('subtract_timestamp_timestamp', { args: [TIMESTAMP, TIMESTAMP], result: DURATION }),
  overload('subtract_uint64', { args: [UINT, UINT], result: UINT }),
);

const ORDERED = [
  { id: 'bool', args: [BOOL, BOOL] },
  { id: 'int64', args: [INT, INT] },
  { id: 'int64_double', args: [INT, DOUBLE] },
  { id: 'int64_uint64', args: [INT, UINT] },
  { id: 'uint64', args: [UINT, UINT] },
  { id: 'uint64_double', args: [UINT, DOUBLE] },
  { id: 'uint64_int64', args: [UINT, INT] },
  { id: 'double', args: [DOUBLE, DOUBLE] },
  { id: 'double_int64', args: [DOUBLE, INT] },
  { id: 'double_uint64', args: [DOUBLE, UINT] },
  { id: 'string', args: [STRING, STRING] },
  { id: 'bytes', args: [BYTES, BYTES] },
  { id: 'timestamp', args: [TIMESTAMP, TIMESTAMP] },
  { id: 'duration', args: [DURATION, DURATION] },
];

function ordering(name: string, word: string): FunctionDecl {
  return declare(name, ...ORDERED.map(({ id, args }) => overload(`${word}_${id}`, { args, result: BOOL })));
}

const OPERATORS: readonly FunctionDecl[] = [
  declare('_?_:_', overload('conditional', { args: [BOOL, A, A], result: A })),
  declare('_&&_', overload('logical_and', { args: [BOOL, BOOL], result: BOOL })),
  declare('_||_', overload('logical_or', { args: [BOOL, BOOL], result: BOOL })),
  declare('!_', overload('logical_not', { args: [BOOL], result: BOOL })),
  declare('@not_strictly_false', overload('not_strictly_false', { args: [BOOL], result: BOOL })),
  declare('_==_', overload('equals', { args: [A, A], result: BOOL })),
  declare('_!=_', overload('not_equals', { args: [A, A], result: BOOL })),
  ADD,
  SUBTRACT,
  arithmetic('_*_', 'multiply', NUMBERS),
  arithmetic('_/_', 'divide', NUMBERS),
  arithmetic('_%_', 'modulo', NUMBERS.slice(1)),
  declare('-_', overload('negate_double', { args: [DOUBLE], result: DOUBLE }), overload('negate_int64', { args: [INT], result: INT })),
  ordering('_<_', 'less'),
  ordering('_<=_', 'less_equals'),
  ordering('_>_', 'greater'),
  ordering('_>=_', 'greater_equals'),
  declare('_[_]', overload('index_list', { args: [LIST, INT], result: A }), overload('index_map', { args: [MAP, A], result: B })),
  declare('@in', overload('in_list', { args: [A, LIST], result: BOOL }), overload('in_map', { args: [A, MAP], result: BOOL })),
];

function sized(id: string, type: CelType, size: Implementation): readonly Overload[] {
  return [overload(`size_${id}`, { args: [type], result: INT }, size), method(`${id}_size`, { args: [type], result: INT }, size)];
}

const SIZE = declare(
  'size',
  ...sized('bytes', BYTES, (bytes: Uint8Array) => bytes.length),
  ...sized('list', LIST, (list: CelList) => list.size),
  ...sized('map', MAP, (map: CelMap) => map.size),
  ...sized('string', STRING, stringSize),
);

interface Source {
  readonly id: string;
  readonly type: CelType;
}

function conversion(
  name: string,
  target: { readonly id: string; readonly type: CelType; readonly convert: Implementation },
  sources: readonly Source[],
): FunctionDecl {
  const toSelf = overload(`${target.id}_to_${target.id}`, { args: [target.type], result: target.type }, identity);
  const others = sources.map(({ id, type }) => overload(`${id}_to_${target.id}`, { args: [type], result: target.type }, target.convert));
  return declare(name, toSelf, ...others);
}

const AS_BOOL = { id: 'bool', type: BOOL };
const AS_BYTES = { id: 'bytes', type: BYTES };
const AS_DOUBLE = { id: 'double', type: DOUBLE };
const AS_DURATION = { id: 'duration', type: DURATION };
const AS_INT = { id: 'int64', type: INT };
const AS_STRING = { id: 'string', type: STRING };
const AS_TIMESTAMP = { id: 'timestamp', type: TIMESTAMP };
const AS_UINT = { id: 'uint64', type: UINT };

const CONVERSIONS: readonly FunctionDecl[] = [
  declare('type', overload('type', { args: [A], result: typeType(A) }, typeOf)),
  declare('dyn', overload('to_dyn', { args: [A], result: DYN }, identity)),
  conversion('bool', { ...AS_BOOL, convert: boolFrom }, [AS_STRING]),
  conversion('bytes', { ...AS_BYTES, convert: bytesFrom }, [AS_STRING]),
  conversion('double', { ...AS_DOUBLE, convert: doubleFrom }, [AS_INT, AS_STRING, AS_UINT]),
  conversion('duration', { ...AS_DURATION, convert: durationFrom }, [AS_INT, AS_STRING]),
  conversion('int', { ...AS_INT, convert: intFrom }, [AS_DOUBLE, AS_DURATION, AS_STRING, AS_TIMESTAMP, AS_UINT]),
  conversion('string', { ...AS_STRING, convert: stringFrom }, [AS_BOOL, AS_BYTES, AS_DOUBLE, AS_DURATION, AS_INT, AS_TIMESTAMP, AS_UINT]),
  conversion('timestamp', { ...AS_TIMESTAMP, convert: timestampFrom }, [AS_INT, AS_STRING]),
  conversion('uint', { ...AS_UINT, convert: uintFrom }, [AS_DOUBLE, AS_INT, AS_STRING]),
];

/** Whether the text has a match of the pattern. */
export function matches(text: string, pattern: string): boolean {
  return compileRegex(pattern).test(text);
}

/** The regular expression, or an EvalFailure that says what is wrong with it. */
export function compileRegex(pattern: string): Regex {
  try {
    return new Regex(pattern);
  } catch (error) {
    throw error instanceof RegexError ? new EvalFailure(error.message) : error;
  }
}

const TEXT_PAIR = { args: [STRING, STRING], result: BOOL };

const TEXTS: readonly FunctionDecl[] = [
  declare(
    'contains',
    method('contains_string', TEXT_PAIR, (text: string, part: string) => text.includes(part)),
  ),
  declare(
    'endsWith',
    method('ends_with_string', TEXT_PAIR, (text: string, end: string) => text.endsWith(end)),
  ),
  declare(
    'startsWith',
    method('starts_with_string', TEXT_PAIR, (text: string, start: string) => text.startsWith(start)),
  ),
  declare('matches', overload('matches', TEXT_PAIR, matches), method('matches_string', TEXT_PAIR, matches)),
];

type TimeField = (civil: CivilTime, time: CelTimestamp) => number;

function timestampMethods(id: string, field: TimeField, zonedId = `${id}_with_tz`): readonly Overload[] {
  return [
    method(id, { args: [TIMESTAMP], result: INT }, (time: CelTimestamp) => field(civilTime(time, 0), time)),
    method(zonedId, { args: [TIMESTAMP, STRING], result: INT }, (time: CelTimestamp, zone: string) =>
      field(civilTime(time, zoneOffsetAt(zone, time)), time),
    ),
  ];
}

function durationMethod(unit: string, nanos: bigint): Overload {
  return method(`duration_to_${unit}`, { args: [DURATION], result: INT }, (duration: CelDuration) => toInt(duration.nanos / nanos));
}

const SECOND = 1_000_000_000n;

const TIMES: readonly FunctionDecl[] = [
  declare('getFullYear', ...timestampMethods('timestamp_to_year', (civil) => civil.year)),
  declare('getMonth', ...timestampMethods('timestamp_to_month', (civil) => civil.month - 1)),
  declare('getDayOfYear', ...timestampMethods('timestamp_to_day_of_year', (civil) => civil.dayOfYear)),
  declare('getDayOfMonth', ...timestampMethods('timestamp_to_day_of_month', (civil) => civil.day - 1)),
  declare('getDate', ...timestampMethods('timestamp_to_day_of_month_1_based', (civil) => civil.day)),
  declare('getDayOfWeek', ...timestampMethods('timestamp_to_day_of_week', (civil) => civil.dayOfWeek)),
  declare('getHours', ...timestampMethods('timestamp_to_hours', (civil) => civil.hour), durationMethod('hours', 3600n * SECOND)),
  declare('getMinutes', ...timestampMethods('timestamp_to_minutes', (civil) => civil.minute), durationMethod('minutes', 60n * SECOND)),
  declare(
    'getSeconds',
    ...timestampMethods('timestamp_to_seconds', (civil) => civil.second, 'timestamp_to_seconds_tz'),
    durationMethod('seconds', SECOND),
  ),
  declare(
    'getMilliseconds',
    ...timestampMethods('timestamp_to_milliseconds', (_, time) => Math.floor(time.nanos / 1_000_000)),
    durationMethod('milliseconds', 1_000_000n),
  ),
];

/** What the language itself defines. */
export const STANDARD_LIBRARY: CelLibrary = {
  functions: [...OPERATORS, SIZE, ...CONVERSIONS, ...TEXTS, ...TIMES],
  types: [BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT],
  macros: STANDARD_MACROS,
};
