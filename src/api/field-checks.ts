import { deepEqual, FieldError, type JsonValue, NEGATIVE_TEXT, type Path, type Problems, Quantity } from '#machinery';
import { FIELD_IS_IMMUTABLE } from './meta/v1/object-meta.validation.ts';

/** Validation functions. Each returns the errors of one field. */
const NONE: readonly FieldError[] = Object.freeze([]);

/** One error for each message about a value. */
export function invalidErrors(path: Path, value: unknown, problems: Problems): readonly FieldError[] {
  return problems.length === 0 ? NONE : problems.map((problem) => FieldError.invalid(path, value, problem));
}

export function notEmpty(path: Path, value: string | undefined, detail = ''): readonly FieldError[] {
  return value ? NONE : [FieldError.required(path, detail)];
}

/** A required value with a rule. */
export function requiredName(path: Path, value: string | undefined, check: (value: string) => Problems): readonly FieldError[] {
  return value ? invalidErrors(path, value, check(value)) : [FieldError.required(path)];
}

/** An enum value. `supported` is listed in the message as given. */
export function supportedValue(path: Path, value: string | undefined, supported: readonly string[]): readonly FieldError[] {
  return supported.includes(value ?? '') ? NONE : [FieldError.notSupported(path, value ?? '', supported)];
}

export function requiredValue(path: Path, value: string | undefined, supported: readonly string[]): readonly FieldError[] {
  return value ? supportedValue(path, value, supported) : [FieldError.required(path)];
}

/** An immutable field. `printed` is the value in the message. */
export function immutable(path: Path, { value, old, printed = value ?? null }: Change): readonly FieldError[] {
  return sameValue(value, old) ? NONE : [FieldError.invalid(path, printed, FIELD_IS_IMMUTABLE)];
}

interface Change {
  readonly value: unknown;
  readonly old: unknown;
  readonly printed?: unknown;
}

export function nonNegative(path: Path, value: number): readonly FieldError[] {
  return value < 0 ? [FieldError.invalid(path, value, NEGATIVE_TEXT)] : NONE;
}

export const NOT_POSITIVE = 'must be greater than zero';

export function positive(path: Path, value: number): readonly FieldError[] {
  return value <= 0 ? [FieldError.invalid(path, value, NOT_POSITIVE)] : NONE;
}

export function nonNegativeQuantity(path: Path, value: string): readonly FieldError[] {
  const quantity = Quantity.parse(value);
  return quantity.sign < 0 ? [FieldError.invalid(path, quantity.toString(), NEGATIVE_TEXT)] : NONE;
}

export function positiveQuantity(path: Path, value: string): readonly FieldError[] {
  const quantity = Quantity.parse(value);
  return quantity.sign <= 0 ? [FieldError.invalid(path, quantity.toString(), NOT_POSITIVE)] : NONE;
}

/** A quantity with a non-negative integer value: upstream's legacy rule for resources. */
export function basicResource(path: Path, value: string): readonly FieldError[] {
  const amount = Quantity.parse(value).value();
  return amount < 0 ? [FieldError.invalid(path, amount, 'must be a valid resource quantity')] : NONE;
}

/** One error for all problems. */
export function joinedInvalidError(path: Path, value: unknown, problems: Problems): readonly FieldError[] {
  return problems.length === 0 ? NONE : [FieldError.invalid(path, value, problems.join(','))];
}

/** Deep equality of decoded values; unset equals empty. */
export function sameValue(a: unknown, b: unknown): boolean {
  return deepEqual(a as JsonValue | undefined, b as JsonValue | undefined);
}

/** For each value whether it is a duplicate of an earlier one. */
export function markDuplicates(values: readonly unknown[]): readonly boolean[] {
  const seen = new Set<unknown>();
  return values.map((value) => {
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated;
  });
}
