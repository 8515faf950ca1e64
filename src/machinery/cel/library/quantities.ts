import { Quantity, QuantityError } from '../../values/quantity.ts';
import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { BOOL, closedType, DOUBLE, INT, STRING } from '../types.ts';
import { isInt64, toInt } from '../values/integers.ts';
import { CelDouble, type CelInt, CelObject, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';

export const QUANTITY_TYPE = closedType('kubernetes.Quantity', { minSerializedSize: 8, convert: fromRaw });

function fromRaw(raw: unknown): QuantityValue {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'bigint')
    throw new EvalFailure('invalid data, expected a quantity');
  return toQuantity(String(raw));
}

export class QuantityValue extends CelObject {
  readonly type = QUANTITY_TYPE;
  readonly quantity: Quantity;
  /** Whether it is stored in fractions; upstream returns no integer for such a quantity, even a whole one. */
  private readonly isFractional: boolean;

  constructor(quantity: Quantity, isFractional = !quantity.isMultipleOf(0)) {
    super();
    this.quantity = quantity;
    this.isFractional = isFractional;
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof QuantityValue)) throw noSuchOverload();
    return this.quantity.equals(other.quantity);
  }

  override toJson(): string {
    return this.quantity.toString();
  }

  asInteger(): CelInt | undefined {
    if (this.isFractional || Math.abs(this.quantity.toNumber()) > 1e19) return undefined;
    const value = this.quantity.bigValue();
    return isInt64(value) ? toInt(value) : undefined;
  }

  add(other: QuantityValue): QuantityValue {
    return new QuantityValue(this.quantity.add(other.quantity), this.isFractional || other.isFractional);
  }

  sub(other: QuantityValue): QuantityValue {
    return new QuantityValue(this.quantity.sub(other.quantity), this.isFractional || other.isFractional);
  }
}

function toQuantity(text: string): QuantityValue {
  try {
    return new QuantityValue(Quantity.parse(text), /\.[0-9]|[0-9][num]$/.test(text));
  } catch (error) {
    throw error instanceof QuantityError ? new EvalFailure(error.message) : error;
  }
}

function isQuantity(text: string): boolean {
  try {
    Quantity.parse(text);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

function fromInt(value: CelInt): QuantityValue {
  return new QuantityValue(Quantity.of(value, 'DecimalExponent'), false);
}

function asInteger(value: QuantityValue): CelInt {
  const integer = value.asInteger();
  if (integer === undefined) throw new EvalFailure('cannot convert value to integer');
  return integer;
}

const Q = QUANTITY_TYPE;
const PAIR_TO_BOOL = { args: [Q, Q], result: BOOL };

export const QUANTITY_LIBRARY: CelLibrary = {
  functions: [
    declare('quantity', overload('string_to_quantity', { args: [STRING], result: Q }, toQuantity)),
    declare('isQuantity', overload('is_quantity_string', { args: [STRING], result: BOOL }, isQuantity)),
    declare(
      'sign',
      method('quantity_sign', { args: [Q], result: INT }, ({ quantity }: QuantityValue) => quantity.sign),
    ),
    declare(
      'isGreaterThan',
      method('quantity_is_greater_than', PAIR_TO_BOOL, (a: QuantityValue, b: QuantityValue) => a.quantity.compare(b.quantity) > 0),
    ),
    declare(
      'isLessThan',
      method('quantity_is_less_than', PAIR_TO_BOOL, (a: QuantityValue, b: QuantityValue) => a.quantity.compare(b.quantity) < 0),
    ),
    declare(
      'compareTo',
      method('quantity_compare_to', { args: [Q, Q], result: INT }, (a: QuantityValue, b: QuantityValue) =>
        Math.sign(a.quantity.compare(b.quantity)),
      ),
    ),
    declare(
      'asApproximateFloat',
      method('quantity_get_float', { args: [Q], result: DOUBLE }, ({ quantity }: QuantityValue) => new CelDouble(quantity.toNumber())),
    ),
    declare('asInteger', method('quantity_get_int', { args: [Q], result: INT }, asInteger)),
    declare(
      'isInteger',
      method('quantity_is_integer', { args: [Q], result: BOOL }, (value: QuantityValue) => value.asInteger() !== undefined),
    ),
    declare(
      'add',
      method('quantity_add', { args: [Q, Q], result: Q }, (a: QuantityValue, b: QuantityValue) => a.add(b)),
      method('quantity_add_int', { args: [Q, INT], result: Q }, (a: QuantityValue, b: CelInt) => a.add(fromInt(b))),
    ),
    declare(
      'sub',
      method('quantity_sub', { args: [Q, Q], result: Q }, (a: QuantityValue, b: QuantityValue) => a.sub(b)),
      method('quantity_sub_int', { args: [Q, INT], result: Q }, (a: QuantityValue, b: CelInt) => a.sub(fromInt(b))),
    ),
  ],
};
