import { CelType, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } from '../types.ts';
import { typeOf } from './inspect.ts';
import { doubleToInt, doubleToUint, parseInt64, parseUint64, toInt, toUint } from './integers.ts';
import {
  CelDuration,
  CelTimestamp,
  formatDuration,
  formatTimestamp,
  isTimestampInRange,
  parseGoDuration,
  parseTimestamp,
  timestampFromUnix,
} from './time.ts';
import { CelDouble, type CelInt, CelUint, type CelValue, EvalFailure } from './value.ts';

function conversionError(value: CelValue, to: CelType | string): EvalFailure {
  return new EvalFailure(`type conversion error from '${typeOf(value).name}' to '${typeof to === 'string' ? to : to.name}'`);
}

export function intFrom(value: CelValue): CelInt {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof CelDouble) return doubleToInt(value.value);
  if (value instanceof CelUint) return toInt(value.value);
  if (value instanceof CelTimestamp) return value.seconds;
  if (value instanceof CelDuration) return toInt(value.nanos);
  const parsed = typeof value === 'string' ? parseInt64(value) : undefined;
  if (parsed === undefined) throw conversionError(value, INT);
  return parsed;
}

export function uintFrom(value: CelValue): CelUint {
  if (value instanceof CelUint) return value;
  if (typeof value === 'number' || typeof value === 'bigint') return new CelUint(toUint(BigInt(value)));
  if (value instanceof CelDouble) return new CelUint(doubleToUint(value.value));
  const parsed = typeof value === 'string' ? parseUint64(value) : undefined;
  if (parsed === undefined) throw conversionError(value, UINT);
  return new CelUint(parsed);
}

const DECIMAL = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const SPECIAL_DOUBLES: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
]);

export function doubleFrom(value: CelValue): CelDouble {
  if (value instanceof CelDouble) return value;
  if (typeof value === 'number' || typeof value === 'bigint') return new CelDouble(Number(value));
  if (value instanceof CelUint) return new CelDouble(Number(value.value));
  const parsed = typeof value === 'string' ? parseDouble(value) : undefined;
  if (parsed === undefined) throw conversionError(value, DOUBLE);
  return new CelDouble(parsed);
}

function parseDouble(text: string): number | undefined {
  const special = SPECIAL_DOUBLES.get(text.replace(/^[+-]/, '').toLowerCase());
  if (special !== undefined) return text.startsWith('-') ? -special : special;
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const TRUE_TEXTS: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE_TEXTS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

export function boolFrom(value: CelValue): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && (TRUE_TEXTS.has(value) || FALSE_TEXTS.has(value))) return TRUE_TEXTS.has(value);
  throw conversionError(value, 'bool');
}

export function stringFrom(value: CelValue): string {
  if (typeof value !== 'object') return String(value);
  if (value instanceof CelDouble) return formatDouble(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof Uint8Array) return decodeUtf8(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelType) return value.name;
  throw conversionError(value, STRING);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new EvalFailure('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** A double as Go's `%g` prints it: the shortest digits, with an exponent below 1e-4 and from 1e6 on. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

export function bytesFrom(value: CelValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return new TextEncoder().encode(value);
  throw conversionError(value, 'bytes');
}

export function timestampFrom(value: CelValue): CelTimestamp {
  if (value instanceof CelTimestamp) return value;
  if (typeof value === 'number' || typeof value === 'bigint') return timestampFromUnix(value);
  const parsed = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (parsed === undefined) throw conversionError(value, TIMESTAMP);
  if (!isTimestampInRange(parsed)) throw new EvalFailure('timestamp overflow');
  return parsed;
}

export function durationFrom(value: CelValue): CelDuration {
  if (value instanceof CelDuration) return value;
  const parsed = typeof value === 'string' ? parseGoDuration(value) : undefined;
  if (parsed === undefined) throw conversionError(value, DURATION);
  return parsed;
}
