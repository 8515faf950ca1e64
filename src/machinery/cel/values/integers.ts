import { type CelInt, EvalFailure } from './value.ts';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;
const INT64_AS_DOUBLE = 2 ** 63;
const UINT64_AS_DOUBLE = 2 ** 64;

/** The canonical form of an int: a number where exact, else a bigint. Throws on overflow of 64 bits. */
export function toInt(value: bigint): CelInt {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  if (value < MIN_INT64 || value > MAX_INT64) throw new EvalFailure('integer overflow');
  return value;
}

export function isInt64(value: bigint): boolean {
  return value >= MIN_INT64 && value <= MAX_INT64;
}

export function isUint64(value: bigint): boolean {
  return value >= 0n && value <= MAX_UINT64;
}

export function toUint(value: bigint): bigint {
  if (!isUint64(value)) throw new EvalFailure('unsigned integer overflow');
  return value;
}

// Each operation runs on doubles while the result is provably exact: |result| < 2^53.
export function addInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toInt(BigInt(a) + BigInt(b));
}

export function subtractInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return toInt(BigInt(a) - BigInt(b));
}

export function multiplyInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return toInt(BigInt(a) * BigInt(b));
}

export function divideInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0) return (a - (a % b)) / b + 0;
  if (BigInt(b) === 0n) throw new EvalFailure('division by zero');
  return toInt(BigInt(a) / BigInt(b));
}

export function moduloInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0) return (a % b) + 0;
  if (BigInt(b) === 0n) throw new EvalFailure('modulus by zero');
  if (BigInt(a) === MIN_INT64 && BigInt(b) === -1n) throw new EvalFailure('integer overflow');
  return toInt(BigInt(a) % BigInt(b));
}

export function negateInt(a: CelInt): CelInt {
  return typeof a === 'number' ? 0 - a : toInt(-a);
}

export function divideUint(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new EvalFailure('division by zero');
  return a / b;
}

export function moduloUint(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new EvalFailure('modulus by zero');
  return a % b;
}

export function doubleToInt(value: number): CelInt {
  if (!Number.isFinite(value) || value <= -INT64_AS_DOUBLE || value >= INT64_AS_DOUBLE) throw new EvalFailure('integer overflow');
  return toInt(BigInt(Math.trunc(value)));
}

export function doubleToUint(value: number): bigint {
  if (!Number.isFinite(value) || value < 0 || value >= UINT64_AS_DOUBLE) throw new EvalFailure('unsigned integer overflow');
  return BigInt(Math.trunc(value));
}

/** The int that equals the double exactly, or undefined. */
export function doubleToIntLossless(value: number): CelInt | undefined {
  if (!Number.isInteger(value) || value < -INT64_AS_DOUBLE || value >= INT64_AS_DOUBLE) return undefined;
  return toInt(BigInt(value));
}

const DECIMAL = /^[+-]?[0-9]+$/;

/** Reads a decimal int64 as Go's strconv.ParseInt does; undefined where that fails. */
export function parseInt64(text: string): CelInt | undefined {
  if (!DECIMAL.test(text) || text.length > 4096) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return isInt64(value) ? toInt(value) : undefined;
}

export function parseUint64(text: string): bigint | undefined {
  if (!/^[0-9]+$/.test(text) || text.length > 4096) return undefined;
  const value = BigInt(text);
  return isUint64(value) ? value : undefined;
}
