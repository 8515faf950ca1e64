import type { JsonSchema } from './json-schema.ts';
import { factorNotPositive, notMultiple, outOfBound, outOfRange, type Place, type ValueError } from './value-errors.ts';

const MAX_FLOAT32 = 3.4028235677973366e38;

interface Sink {
  add(error: ValueError): void;
}

/** The range of a number's type, and multipleOf, minimum and maximum. */
export class NumberCheck {
  private readonly type: string;
  private readonly format: string;

  constructor(
    private readonly schema: JsonSchema,
    types: readonly string[],
    format: string,
  ) {
    const [type = ''] = types.length === 1 ? types : [];
    this.type = type === 'integer' || type === 'number' ? type : '';
    this.format = this.type === '' ? '' : format;
  }

  check(value: number | bigint, place: Place, result: Sink): void {
    this.checkRange('Checked', value, { place, result });
    this.checkMultiple(value, place, result);
    this.checkMinimum(value, place, result);
    this.checkMaximum(value, place, result);
  }

  // Limits are also checked against the type: a fraction is an invalid limit for integers, but still compared.
  private checkRange(noun: string, value: number | bigint, { place, result }: { place: Place; result: Sink }): void {
    if (!this.fits(value)) result.add(outOfRange(place, { noun, type: this.type, format: this.format }));
  }

  private fits(value: number | bigint): boolean {
    if (this.type === 'integer') return this.format === 'int32' ? isWithin(value, 31n) : isWithin(value, 63n);
    return this.format !== 'float' || Math.abs(Number(value)) < MAX_FLOAT32;
  }

  private checkMultiple(value: number | bigint, place: Place, result: Sink): void {
    const { multipleOf } = this.schema;
    if (multipleOf === undefined) return;
    this.checkRange('MultipleOf', multipleOf, { place, result });
    const factor = this.fits(multipleOf) && isWhole(value) ? Math.trunc(multipleOf) : multipleOf;
    if (factor <= 0) result.add(factorNotPositive(place, factor));
    else if (!isMultiple(value, factor)) result.add(notMultiple(place, value, factor));
  }

  private checkMinimum(value: number | bigint, place: Place, result: Sink): void {
    const { minimum, exclusiveMinimum = false } = this.schema;
    if (minimum === undefined) return;
    this.checkRange('Minimum boundary', minimum, { place, result });
    const limit = this.limitFor(value, minimum);
    if (exclusiveMinimum ? value <= limit : value < limit)
      result.add(outOfBound(place, value, { side: 'greater', limit, exclusive: exclusiveMinimum }));
  }

  private checkMaximum(value: number | bigint, place: Place, result: Sink): void {
    const { maximum, exclusiveMaximum = false } = this.schema;
    if (maximum === undefined) return;
    this.checkRange('Maximum boundary', maximum, { place, result });
    const limit = this.limitFor(value, maximum);
    if (exclusiveMaximum ? value >= limit : value > limit)
      result.add(outOfBound(place, value, { side: 'less', limit, exclusive: exclusiveMaximum }));
  }

  // Integers are compared with integers, where the type allows fractions too.
  private limitFor(value: number | bigint, limit: number): number {
    return isWhole(value) && this.fits(limit) ? Math.trunc(limit) : limit;
  }
}

function isWhole(value: number | bigint): boolean {
  return typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < 2 ** 63);
}

function isWithin(value: number | bigint, bits: bigint): boolean {
  if (!isWhole(value)) return false;
  const integer = BigInt(value);
  return integer >= -(2n ** bits) && integer < 2n ** bits;
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (isWhole(value) && Number.isInteger(factor)) return BigInt(value) % BigInt(factor) === 0n;
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  return isNearlyInteger(quotient);
}

// The tolerance is upstream's.
function isNearlyInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const difference = Math.abs(value - Math.trunc(value));
  if (value === Math.trunc(value)) return true;
  const magnitude = Math.abs(value) + Math.abs(Math.trunc(value));
  return magnitude < Number.MIN_VALUE ? difference < 1e-9 * Number.MIN_VALUE : difference / Math.min(magnitude, Number.MAX_VALUE) < 1e-9;
}
