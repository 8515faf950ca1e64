import { encodeJson } from '../json/encode-json.ts';
import { goFloat, goJsonEscape, goQuote } from '../values/go-format.ts';
import type { Path } from './field-path.ts';

const LABELS = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTooShort: 'Too short',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
} as const;

export type FieldErrorType = keyof typeof LABELS;

/** A bad value that is printed exactly as written, for values whose printed form is not their JSON form. */
export class Verbatim {
  constructor(readonly text: string) {}
}

/** A bad value that is not printed at all. */
export const OMITTED = new Verbatim('');

interface FieldErrorParts {
  readonly type: FieldErrorType;
  readonly path: Path;
  readonly value: unknown;
  readonly detail: string;
}

/** One thing wrong with one field: becomes a cause in an `Invalid` status. Made by the static functions. */
export class FieldError {
  readonly type: FieldErrorType;
  readonly path: Path;
  /** The offending value, printed in the message for the types that print it. */
  readonly value: unknown;
  readonly detail: string;
  #body: string | undefined;

  private constructor(parts: FieldErrorParts) {
    this.type = parts.type;
    this.path = parts.path;
    this.value = parts.value;
    this.detail = parts.detail;
  }

  static invalid(path: Path, value: unknown, detail: string): FieldError {
    return new FieldError({ type: 'FieldValueInvalid', path, value, detail });
  }

  static typeInvalid(path: Path, value: unknown, detail: string): FieldError {
    return new FieldError({ type: 'FieldValueTypeInvalid', path, value, detail });
  }

  static required(path: Path, detail = ''): FieldError {
    return new FieldError({ type: 'FieldValueRequired', path, value: '', detail });
  }

  static duplicate(path: Path, value: unknown): FieldError {
    return new FieldError({ type: 'FieldValueDuplicate', path, value, detail: '' });
  }

  static notFound(path: Path, value: unknown): FieldError {
    return new FieldError({ type: 'FieldValueNotFound', path, value, detail: '' });
  }

  static forbidden(path: Path, detail: string): FieldError {
    return new FieldError({ type: 'FieldValueForbidden', path, value: '', detail });
  }

  static notSupported(path: Path, value: unknown, supported: readonly string[]): FieldError {
    const detail = supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`;
    return new FieldError({ type: 'FieldValueNotSupported', path, value, detail });
  }

  /** A value longer than `max` bytes; a negative `max` is not mentioned. The value itself is never printed. */
  static tooLong(path: Path, max: number): FieldError {
    const detail = max < 0 ? 'value is too long' : `may not be more than ${count(max, 'byte')}`;
    return new FieldError({ type: 'FieldValueTooLong', path, value: '<value omitted>', detail });
  }

  static tooLongCharacters(path: Path, max: number): FieldError {
    const detail = max < 0 ? 'value is too long' : `may not be more than ${count(max, 'character')}`;
    return new FieldError({ type: 'FieldValueTooLong', path, value: '<value omitted>', detail });
  }

  static tooShort(path: Path, value: unknown, min: number): FieldError {
    const detail = min < 0 ? 'value is too short' : `must be at least ${count(min, 'character')}`;
    return new FieldError({ type: 'FieldValueTooShort', path, value, detail });
  }

  /** More than `max` items; a negative count or maximum is not mentioned. */
  static tooMany(path: Path, actual: number, max: number): FieldError {
    const detail = max < 0 ? 'has too many items' : `must have at most ${count(max, 'item')}`;
    return new FieldError({ type: 'FieldValueTooMany', path, value: actual < 0 ? OMITTED : actual, detail });
  }

  static tooFew(path: Path, actual: number, min: number): FieldError {
    const detail = min < 0 ? 'has too few items' : `must have at least ${count(min, 'item')}`;
    return new FieldError({ type: 'FieldValueTooFew', path, value: actual < 0 ? OMITTED : actual, detail });
  }

  static internalError(path: Path, error: Error): FieldError {
    return new FieldError({ type: 'InternalError', path, value: error, detail: error.message });
  }

  /** The same problem with another value. */
  withValue(value: unknown): FieldError {
    return new FieldError({ type: this.type, path: this.path, value, detail: this.detail });
  }

  get field(): string {
    return this.path.toString();
  }

  /** The same problem with `prefix` before its detail. */
  prefixDetail(prefix: string): FieldError {
    return new FieldError({ type: this.type, path: this.path, value: this.value, detail: prefix + this.detail });
  }

  /** The message without the field: what a status cause carries. */
  body(): string {
    this.#body ??= LABELS[this.type] + this.#printedValue() + (this.detail === '' ? '' : `: ${this.detail}`);
    return this.#body;
  }

  #printedValue(): string {
    return this.printsValue() ? `: ${printValue(this.value)}` : '';
  }

  toString(): string {
    return `${this.field}: ${this.body()}`;
  }

  private printsValue(): boolean {
    switch (this.type) {
      case 'FieldValueRequired':
      case 'FieldValueForbidden':
      case 'FieldValueTooLong':
      case 'FieldValueTooShort':
      case 'InternalError':
        return false;
      default:
        return this.value !== OMITTED;
    }
  }
}

function count(n: number, unit: string): string {
  return n === 1 ? `1 ${unit}` : `${n} ${unit}s`;
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goFloat(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Verbatim) return value.text;
  return goJsonEscape(shortened(encodeJson(value)));
}

/** In characters. Upstream prints all of a value, which a status repeats twice. */
const MAX_PRINTED_VALUE = 256 << 10;

function shortened(text: string): string {
  return text.length <= MAX_PRINTED_VALUE ? text : `${text.slice(0, MAX_PRINTED_VALUE)}…`;
}

/** One line for several problems, as upstream joins them: each message once, brackets around more than one. */
export function joinMessages(messages: Iterable<string>): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}

/** The joined messages of field errors; empty when there are none. */
export function aggregateFieldErrors(errors: readonly FieldError[]): string {
  return errors.length === 0 ? '' : joinMessages(errors.map(String));
}

/** More than any response prints: after so many the rest of an object is not validated. */
export const MAX_FIELD_ERRORS = 10_000;

/** Ends the validation of an object with thousands of errors, which would cost more than the object itself. */
export class TooManyFieldErrors extends Error {
  override readonly name = 'TooManyFieldErrors';

  constructor(readonly errors: readonly FieldError[]) {
    super(`more than ${MAX_FIELD_ERRORS} fields are invalid: ${errors[0]}, …`);
  }
}

/** The errors of a list, item by item, up to the first item with which there are too many. */
export function itemErrors<T>(items: readonly T[], validate: (item: T, index: number) => readonly FieldError[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, item] of items.entries()) {
    if (errors.length >= MAX_FIELD_ERRORS) break;
    for (const error of validate(item, i)) errors.push(error);
  }
  return errors;
}

/** What a validator reports, or had reported when there were too many errors. */
export function reportedErrors(validate: () => readonly FieldError[]): readonly FieldError[] {
  try {
    return validate();
  } catch (error) {
    if (error instanceof TooManyFieldErrors) return error.errors;
    throw error;
  }
}
