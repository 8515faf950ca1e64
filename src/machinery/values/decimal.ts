/** The number `mantissa × 10^scale`. The mantissa is an integer: a number where a double holds it exactly, a bigint beyond. */
export interface Decimal {
  readonly mantissa: number | bigint;
  readonly scale: number;
}

/** Numbers that differ by more digits than this are not added: the smaller one is negligible. Guards against `1e999999999`. */
const MAX_DIGITS_APART = 10_000;

const SMALL_POWERS = Array.from({ length: 16 }, (_, power) => 10 ** power);

export function powerOfTen(power: number): bigint {
  return 10n ** BigInt(power);
}

/** A bigint as a number where that is exact. */
export function toNumberIfSafe(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** The decimal digits of an integer, without its sign. */
export function digitsOf(mantissa: number | bigint): { readonly digits: string; readonly negative: boolean } {
  const text = mantissa.toString();
  return text.startsWith('-') ? { digits: text.slice(1), negative: true } : { digits: text, negative: false };
}

export function compareAmounts(a: Decimal, b: Decimal): number {
  if (a.scale === b.scale) return order(a.mantissa, b.mantissa);
  const signs = order(signOf(a), signOf(b));
  if (signs !== 0 || a.mantissa === 0) return signs;
  // Only numbers of one length are worth aligning; this also bounds the cost for extreme exponents.
  const lengths = order(magnitudeOf(a), magnitudeOf(b));
  if (lengths !== 0) return signOf(a) > 0 ? lengths : -lengths;
  const scale = Math.min(a.scale, b.scale);
  return order(scaleDown(a, scale), scaleDown(b, scale));
}

export function sumAmounts(a: Decimal, b: Decimal): Decimal {
  if (b.mantissa === 0) return a;
  if (a.mantissa === 0) return b;
  if (Math.abs(a.scale - b.scale) > MAX_DIGITS_APART) return a.scale > b.scale ? a : b;
  const scale = Math.min(a.scale, b.scale);
  return { mantissa: addIntegers(scaleDown(a, scale), scaleDown(b, scale)), scale };
}

/** Rounded away from zero to a multiple of `10^scale`; unchanged if it is one. */
export function roundUp(amount: Decimal, scale: number): Decimal {
  const drop = scale - amount.scale;
  if (drop <= 0 || amount.mantissa === 0) return amount;
  const sign = signOf(amount);
  if (drop > digitsOf(amount.mantissa).digits.length) return { mantissa: sign, scale };
  const divisor = powerOfTen(drop);
  const mantissa = BigInt(amount.mantissa);
  const quotient = mantissa / divisor;
  return { mantissa: toNumberIfSafe(mantissa % divisor === 0n ? quotient : quotient + BigInt(sign)), scale };
}

function signOf({ mantissa }: Decimal): number {
  return order(mantissa, 0);
}

function order(a: number | bigint, b: number | bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

function magnitudeOf({ mantissa, scale }: Decimal): number {
  return digitsOf(mantissa).digits.length + scale;
}

/** The mantissa that the same number has at a smaller scale. */
function scaleDown({ mantissa, scale }: Decimal, to: number): number | bigint {
  const places = scale - to;
  if (places === 0) return mantissa;
  const factor = SMALL_POWERS[places];
  if (factor !== undefined && typeof mantissa === 'number') {
    const product = mantissa * factor;
    if (Number.isSafeInteger(product)) return product;
  }
  return toNumberIfSafe(BigInt(mantissa) * powerOfTen(places));
}

function addIntegers(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toNumberIfSafe(BigInt(a) + BigInt(b));
}
