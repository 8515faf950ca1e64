import { compareBytes } from '../../values/go-format.ts';
import { compareByteArrays, compareIntDouble, compareUintDouble } from './equality.ts';
import { CelDuration, CelTimestamp, compareTimestamps } from './time.ts';
import { CelDouble, type CelInt, CelUint, type CelValue, EvalFailure, noSuchOverload } from './value.ts';

/** Orders two values: negative, zero or positive. Throws an EvalFailure for values that have no order. */
export function compare(a: CelValue, b: CelValue): number {
  switch (typeof a) {
    case 'number':
    case 'bigint':
      return compareInt(a, b);
    case 'string':
      if (typeof b === 'string') return compareBytes(a, b);
      break;
    case 'boolean':
      if (typeof b === 'boolean') return Number(a) - Number(b);
      break;
    default:
      return compareObjects(a, b);
  }
  throw noSuchOverload();
}

export function isComparable(value: CelValue): boolean {
  if (typeof value !== 'object') return true;
  return (
    value instanceof CelDouble ||
    value instanceof CelUint ||
    value instanceof CelTimestamp ||
    value instanceof CelDuration ||
    value instanceof Uint8Array
  );
}

function compareInt(a: CelInt, b: CelValue): number {
  if (typeof b === 'number' || typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (b instanceof CelDouble) return compareIntDouble(a, orderable(b.value));
  if (b instanceof CelUint) return compareBig(BigInt(a), b.value);
  throw noSuchOverload();
}

function orderable(value: number): number {
  if (Number.isNaN(value)) throw new EvalFailure('NaN values cannot be ordered');
  return value;
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareObjects(a: CelValue, b: CelValue): number {
  if (a instanceof CelDouble) return compareDouble(orderable(a.value), b);
  if (a instanceof CelUint) return compareUint(a.value, b);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return compareTimestamps(a, b);
  if (a instanceof CelDuration && b instanceof CelDuration) return compareBig(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareByteArrays(a, b);
  throw noSuchOverload();
}

function compareDouble(a: number, b: CelValue): number {
  if (b instanceof CelDouble) return a < orderable(b.value) ? -1 : a > b.value ? 1 : 0;
  if (typeof b === 'number' || typeof b === 'bigint') return -compareIntDouble(b, a);
  if (b instanceof CelUint) return -compareUintDouble(b.value, a);
  throw noSuchOverload();
}

function compareUint(a: bigint, b: CelValue): number {
  if (b instanceof CelUint) return compareBig(a, b.value);
  if (typeof b === 'number' || typeof b === 'bigint') return compareBig(a, BigInt(b));
  if (b instanceof CelDouble) return compareUintDouble(a, orderable(b.value));
  throw noSuchOverload();
}
