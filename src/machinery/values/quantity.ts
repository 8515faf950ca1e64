import { withoutTrailing } from '#base';
import { compareAmounts, type Decimal, digitsOf, powerOfTen, roundUp, sumAmounts, toNumberIfSafe } from './decimal.ts';

/** How a quantity writes itself: `12e6`, `12Mi` or `12M`. Arithmetic keeps the format of its left side. */
export type QuantityFormat = 'DecimalExponent' | 'BinarySI' | 'DecimalSI';

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_WRONG = 'unable to parse numeric part of quantity';
const SUFFIX_WRONG = "unable to parse quantity's suffix";

const NANO = -9;
/** The number of digits that always fit an int64: upstream keeps the original text of such quantities. */
const MAX_INT64_DIGITS = 18;
/** The maximum number of written-out zeros, whatever the exponent. */
const MAX_SCALE_SHOWN = 400;
const MAX_INT64 = 2n ** 63n - 1n;

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const BINARY_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);
const SUFFIX_OF_POWER: ReadonlyMap<number, string> = new Map([...DECIMAL_SUFFIXES].map(([suffix, power]) => [power, suffix]));
const BINARY_UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

interface QuantityParts {
  readonly sign: 1 | -1;
  readonly integerPart: string;
  readonly fraction: string;
  readonly suffix: Suffix;
}

/**
 * A fixed-point number with a suffix, exact: `100m`, `1.5Gi`, `2e3`. Immutable. The number is `mantissa × 10^scale`; the mantissa is
 * a bigint only where a double cannot hold it.
 */
export class Quantity {
  static readonly zero = new Quantity({ mantissa: 0, scale: 0 }, 'DecimalSI', '0');

  private readonly amount: Decimal;
  readonly format: QuantityFormat;
  private text: string | undefined;

  private constructor(amount: Decimal, format: QuantityFormat, text?: string) {
    this.amount = amount;
    this.format = format;
    this.text = text;
  }

  /** Parses a quantity. Throws QuantityError with the API's text. */
  static parse(text: string): Quantity {
    if (text === '0') return Quantity.zero;
    const parts = splitQuantity(text);
    return parseFast(parts, text) ?? parseExactly(parts);
  }

  /** The quantity in a JSON document, where it may be a string (surrounding space is dropped) or a number. */
  static fromJson(value: string | number | bigint): Quantity {
    return Quantity.parse(typeof value === 'string' ? value.trim() : String(value));
  }

  static of(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return Quantity.scaled(value, 0, format);
  }

  static ofMilli(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return Quantity.scaled(value, -3, format);
  }

  /** `value × 10^scale`; the value is an integer. */
  static scaled(value: number | bigint, scale: number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity({ mantissa: toNumberIfSafe(BigInt(value)), scale }, format);
  }

  /** Created by the parser, which knows whether the text is canonical. */
  static fromAmount(amount: Decimal, format: QuantityFormat, text?: string): Quantity {
    return new Quantity(amount, format, text);
  }

  get isZero(): boolean {
    return this.amount.mantissa === 0;
  }

  get sign(): -1 | 0 | 1 {
    const { mantissa } = this.amount;
    if (mantissa === 0) return 0;
    return mantissa > 0 ? 1 : -1;
  }

  compare(other: Quantity): number {
    return compareAmounts(this.amount, other.amount);
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  add(other: Quantity): Quantity {
    const format = this.isZero ? other.format : this.format;
    return new Quantity(sumAmounts(this.amount, other.amount), format);
  }

  sub(other: Quantity): Quantity {
    const format = this.isZero ? other.format : this.format;
    return new Quantity(sumAmounts(this.amount, other.negate().amount), format);
  }

  /** Times an integer. */
  mul(factor: number | bigint): Quantity {
    const { mantissa, scale } = this.amount;
    return new Quantity({ mantissa: toNumberIfSafe(BigInt(mantissa) * BigInt(factor)), scale }, this.format);
  }

  negate(): Quantity {
    const { mantissa, scale } = this.amount;
    return new Quantity({ mantissa: mantissa === 0 ? 0 : -mantissa, scale }, this.format);
  }

  /** The number in units, rounded away from zero. Beyond 2^53 it is the nearest double; `bigValue` is exact. */
  value(): number {
    return this.scaledValue(0);
  }

  milliValue(): number {
    return this.scaledValue(-3);
  }

  /** As `value`, exactly. Throws a RangeError for numbers beyond all measure. */
  bigValue(): bigint {
    if (this.amount.scale > MAX_SCALE_SHOWN) throw new RangeError(`quantity ${this} is too large`);
    return BigInt(this.multipleOf(0).mantissa);
  }

  /** The number in units of `10^scale`, rounded away from zero. */
  scaledValue(scale: number): number {
    const { mantissa, scale: own } = this.amount;
    if (own === scale) return Number(mantissa);
    if (own > scale && own - scale > MAX_SCALE_SHOWN) return this.sign * Number.POSITIVE_INFINITY;
    return Number(this.multipleOf(scale).mantissa);
  }

  /** The number as the nearest double. */
  toNumber(): number {
    const { mantissa, scale } = this.amount;
    return Number(`${mantissa}e${scale}`);
  }

  /** Rounded away from zero to a multiple of `10^scale`. */
  roundUp(scale: number): Quantity {
    return this.amount.scale >= scale ? this : new Quantity(roundUp(this.amount, scale), this.format);
  }

  /** Whether the number is a whole multiple of `10^scale`. */
  isMultipleOf(scale: number): boolean {
    return this.amount.scale >= scale || compareAmounts(roundUp(this.amount, scale), this.amount) === 0;
  }

  /** The canonical form: no fraction, the largest suffix that needs none. */
  toString(): string {
    this.text ??= this.canonical();
    return this.text;
  }

  toJSON(): string {
    return this.toString();
  }

  private multipleOf(scale: number): Decimal {
    if (this.amount.scale <= scale) return roundUp(this.amount, scale);
    const shifted = BigInt(this.amount.mantissa) * powerOfTen(this.amount.scale - scale);
    return { mantissa: toNumberIfSafe(shifted), scale };
  }

  private canonical(): string {
    if (this.isZero) return '0';
    if (this.format !== 'BinarySI') return canonicalDecimal(this.amount, this.format);
    return this.showsAsBinary() ? canonicalBinary(this.bigValue()) : canonicalDecimal(this.amount, 'DecimalSI');
  }

  // Small and fractional numbers would lose precision in binary units.
  private showsAsBinary(): boolean {
    const { mantissa, scale } = this.amount;
    const magnitude: Decimal = { mantissa: mantissa < 0 ? -mantissa : mantissa, scale };
    return scale <= MAX_SCALE_SHOWN && compareAmounts(magnitude, { mantissa: 1024, scale: 0 }) >= 0 && this.isMultipleOf(0);
  }
}

/** The canonical form of a quantity's text: what a server stores. Throws QuantityError. */
export function canonicalQuantity(text: string): string {
  return Quantity.parse(text).toString();
}

/** The least and the greatest of quantities. */
export function maxQuantity(a: Quantity, b: Quantity): Quantity {
  return a.compare(b) < 0 ? b : a;
}

export function minQuantity(a: Quantity, b: Quantity): Quantity {
  return a.compare(b) > 0 ? b : a;
}

const SUFFIX_TEXT = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

// Scanned by hand: one regular expression for the whole would backtrack without bound on long runs of digits.
function splitQuantity(text: string): QuantityParts {
  if (text === '') throw new QuantityError(FORMAT_WRONG);
  const start = text[0] === '-' || text[0] === '+' ? 1 : 0;
  const wholeEnd = skipDigits(text, start);
  const fractionEnd = text[wholeEnd] === '.' ? skipDigits(text, wholeEnd + 1) : wholeEnd;
  const suffix = text.slice(fractionEnd);
  if (!SUFFIX_TEXT.test(suffix)) throw new QuantityError(FORMAT_WRONG);
  const integerPart = withoutLeadingZeros(text, start, wholeEnd);
  return {
    sign: text[0] === '-' ? -1 : 1,
    integerPart: integerPart,
    fraction: text.slice(wholeEnd + 1, fractionEnd),
    suffix: interpretSuffix(suffix),
  };
}

function skipDigits(text: string, from: number): number {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function withoutLeadingZeros(text: string, start: number, end: number): string {
  let first = start;
  while (first < end && text[first] === '0') first++;
  return first === end ? '0' : text.slice(first, end);
}

function interpretSuffix(suffix: string): Suffix {
  const decimal = DECIMAL_SUFFIXES.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY_SUFFIXES.get(suffix);
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' };
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) throw new QuantityError(SUFFIX_WRONG);
  return { base: 10, exponent: exponentOf(suffix.slice(1)), format: 'DecimalExponent' };
}

// Upstream parses an int64 and truncates it to 32 bits.
function exponentOf(text: string): number {
  const exponent = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, exponent) !== exponent) throw new QuantityError(SUFFIX_WRONG);
  return Number(BigInt.asIntN(32, exponent));
}

/** The common case: an integer or short fraction whose digits fit an int64. Upstream keeps such a text if it looks canonical. */
function parseFast(parts: QuantityParts, text: string): Quantity | undefined {
  const { sign, integerPart: whole, fraction, suffix } = parts;
  const digits = whole + fraction;
  if (suffix.base === 2) return parseFastBinary(parts, text);
  const scale = suffix.exponent - fraction.length;
  if (digits.length > MAX_INT64_DIGITS || scale < NANO) return undefined;
  const keepsText = scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
  return Quantity.fromAmount({ mantissa: signed(parseInteger(digits), sign), scale }, suffix.format, keepsText ? text : undefined);
}

function parseFastBinary({ sign, integerPart: whole, fraction, suffix }: QuantityParts, text: string): Quantity | undefined {
  if (fraction !== '' || 15 - whole.length - Math.trunc((suffix.exponent * 3) / 10) - 1 < 0) return undefined;
  const value = Number(whole);
  const keepsText = value % 8 !== 0;
  const mantissa = signed(value * 2 ** suffix.exponent, sign);
  return Quantity.fromAmount({ mantissa, scale: 0 }, suffix.format, keepsText ? text : undefined);
}

function parseInteger(digits: string): number | bigint {
  return digits.length <= 15 ? Number(digits) : toNumberIfSafe(BigInt(digits));
}

function signed(value: number | bigint, sign: 1 | -1): number | bigint {
  return sign > 0 || value === 0 ? value : -value;
}

function parseExactly({ sign, integerPart: whole, fraction, suffix }: QuantityParts): Quantity {
  if (whole.length + fraction.length > 100_000) throw new QuantityError(NUMERIC_WRONG);
  const digits = BigInt(whole + fraction);
  const exact: Decimal =
    suffix.base === 10
      ? { mantissa: toNumberIfSafe(digits), scale: suffix.exponent - fraction.length }
      : { mantissa: toNumberIfSafe(digits << BigInt(suffix.exponent)), scale: -fraction.length };
  const amount = limitBinary(roundUp(exact, NANO), suffix.format);
  const format = suffix.format === 'BinarySI' && belowOne(amount) ? 'DecimalSI' : suffix.format;
  return Quantity.fromAmount({ mantissa: signed(amount.mantissa, sign), scale: amount.scale }, format);
}

// Binary quantities are capped at the largest int64, decimal ones are not.
function limitBinary(amount: Decimal, format: QuantityFormat): Decimal {
  const limit: Decimal = { mantissa: MAX_INT64, scale: 0 };
  return format === 'BinarySI' && compareAmounts(amount, limit) > 0 ? limit : amount;
}

function belowOne(amount: Decimal): boolean {
  return amount.mantissa !== 0 && compareAmounts(amount, { mantissa: 1, scale: 0 }) < 0;
}

function canonicalDecimal(amount: Decimal, format: QuantityFormat): string {
  const { digits, negative } = digitsOf(amount.mantissa);
  const significant = withoutTrailing(digits, '0');
  const exponent = amount.scale + digits.length - significant.length;
  // Exponents are multiples of three; the difference is written as zeros.
  const padding = ((exponent % 3) + 3) % 3;
  return (negative ? '-' : '') + significant + '0'.repeat(padding) + decimalSuffix(exponent - padding, format);
}

function decimalSuffix(exponent: number, format: QuantityFormat): string {
  const suffix = format === 'DecimalSI' ? SUFFIX_OF_POWER.get(exponent) : undefined;
  if (suffix !== undefined) return suffix;
  return exponent === 0 ? '' : `e${exponent}`;
}

function canonicalBinary(value: bigint): string {
  let unit = 0;
  let rest = value;
  while (unit < BINARY_UNITS.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    unit++;
  }
  return `${rest}${BINARY_UNITS[unit]}`;
}
