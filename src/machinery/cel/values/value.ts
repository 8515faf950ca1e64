import type { JsonValue } from '../../json/json-value.ts';
import type { CelType } from '../types.ts';
import { CelBoxed } from './boxed.ts';
import type { CelList, CelMap } from './containers.ts';
import type { CelDuration, CelTimestamp } from './time.ts';

/**
 * A value of CEL. An int is a JavaScript number while that is exact and a bigint beyond it (never a bigint within the
 * safe range, so `===` compares ints); a double is boxed, so that 1.0 and 1 stay different types.
 */
export type CelValue =
  | null
  | boolean
  | string
  | CelInt
  | CelUint
  | CelDouble
  | Uint8Array
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelType
  | CelObject;

export type CelInt = number | bigint;

/**
 * A failure inside an evaluation. Thrown, but not an Error: `||` and `&&` routinely absorb failures, and a stack trace would cost more than the rule.
 * Program converts it into a CelError.
 */
export class EvalFailure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function noSuchOverload(): EvalFailure {
  return new EvalFailure('no such overload');
}

export class CelDouble extends CelBoxed {
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

export class CelUint extends CelBoxed {
  readonly value: bigint;

  constructor(value: bigint) {
    super();
    this.value = value;
  }
}

export class CelOptional extends CelBoxed {
  static readonly none = new CelOptional(undefined);

  readonly value: CelValue | undefined;

  private constructor(value: CelValue | undefined) {
    super();
    this.value = value;
  }

  static of(value: CelValue): CelOptional {
    return new CelOptional(value);
  }

  get hasValue(): boolean {
    return this.value !== undefined;
  }

  unwrap(): CelValue {
    if (this.value === undefined) throw new EvalFailure('optional.none() dereference');
    return this.value;
  }
}

/** A value of a library's or caller's type: a quantity, a URL, an authorizer. */
export abstract class CelObject extends CelBoxed {
  abstract readonly type: CelType;

  /** Throws an EvalFailure where the other value cannot be compared with this one. */
  abstract equals(other: CelValue): boolean;

  /** The value as plain data, where it has one. */
  toJson(): JsonValue {
    throw new EvalFailure(`type conversion error from '${this.type.name}' to JSON`);
  }

  /** What size() would be, for cost accounting. */
  get costSize(): number {
    return 1;
  }

  /** Whether comparing two of them with `==` costs one unit, whatever their content. */
  get hasUnitEquality(): boolean {
    return true;
  }

  get isZero(): boolean {
    return false;
  }

  /** A field's value, or undefined where the value has no such field. */
  getField(_name: string): CelValue | undefined {
    return undefined;
  }
}
