import { FieldError } from '../errors/field-error.ts';
import type { Path } from '../errors/field-path.ts';
import { encodeJson } from '../json/encode-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { goFloat, goQuote, goValue } from '../values/go-format.ts';

/** The path of a value in messages: `spec.list[0].name`. Built only for errors. */
export class Place {
  static readonly root = new Place(undefined, '');

  private constructor(
    private readonly parent: Place | undefined,
    private readonly segment: string,
  ) {}

  /** A declared property. */
  property(name: string): Place {
    return new Place(this, this.parent === undefined ? name : `.${name}`);
  }

  /** A key that is not declared, or is missing. */
  key(name: string): Place {
    return new Place(this, `.${name}`);
  }

  item(index: number): Place {
    return new Place(this, `[${index}]`);
  }

  get isRoot(): boolean {
    return this.parent === undefined;
  }

  toString(): string {
    return this.parent === undefined ? '' : this.parent.toString() + this.segment;
  }
}

/** A validation error. `text` is the message of upstream's validation library, used to deduplicate errors. */
export interface ValueError {
  readonly text: string;
  readonly toFieldError: (path: Path) => FieldError;
}

function at(path: Path, name: string): Path {
  return name === '' || name === '.' ? path : path.child(name.replace(/^\./, ''));
}

type Detail = (path: Path, text: string) => FieldError;

function valueError(place: Place, message: string, detail: Detail): ValueError {
  const name = place.toString();
  const text = `${name} in body ${message}`;
  return { text, toFieldError: (path) => detail(at(path, name), text) };
}

function invalid(place: Place, value: JsonValue, message: string): ValueError {
  return valueError(place, message, (path, text) => FieldError.invalid(path, value ?? '', text));
}

/** `actual` is the name of the type that the value has, or a string that does not have the format. */
export function wrongType(place: Place, expected: string, actual: string): ValueError {
  return valueError(place, `must be of type ${expected}: ${goQuote(actual)}`, (path, text) => FieldError.typeInvalid(path, actual, text));
}

export function missing(place: Place): ValueError {
  return valueError(place, 'is required', (path) => FieldError.required(path));
}

export function tooLong(place: Place, max: number): ValueError {
  return valueError(place, `should be at most ${max} chars long`, (path) => FieldError.tooLong(path, max));
}

export function tooShort(place: Place, value: string, min: number): ValueError {
  return invalid(place, value, `should be at least ${min} chars long`);
}

export function noMatch(place: Place, value: string, pattern: string): ValueError {
  return invalid(place, value, `should match '${pattern}'`);
}

export function notInEnum(place: Place, value: JsonValue, allowed: readonly JsonValue[]): ValueError {
  const texts = allowed.map((item) => (typeof item === 'string' ? item : encodeJson(item)));
  return valueError(place, `should be one of ${goValue(allowed as JsonValue)}`, (path) => FieldError.notSupported(path, value, texts));
}

export function tooManyItems(place: Place, count: number, max: number): ValueError {
  return valueError(place, `should have at most ${max} items`, (path) => FieldError.tooMany(path, count, max));
}

export function tooFewItems(place: Place, count: number, min: number): ValueError {
  return invalid(place, count, `should have at least ${min} items`);
}

export function tooManyProperties(place: Place, count: number, max: number): ValueError {
  return valueError(place, `should have at most ${max} properties`, (path) => FieldError.tooMany(path, count, max));
}

export function tooFewProperties(place: Place, count: number, min: number): ValueError {
  return invalid(place, count, `should have at least ${min} properties`);
}

export function duplicateItems(place: Place): ValueError {
  return invalid(place, '', "shouldn't contain duplicates");
}

export function forbiddenProperty(place: Place, key: string): ValueError {
  const name = place.toString();
  const text = `${name}.${key} in body is a forbidden property`;
  return { text, toFieldError: (path) => FieldError.invalid(at(path, name), key, text) };
}

export function outOfBound(
  place: Place,
  value: number | bigint,
  bound: { side: 'less' | 'greater'; limit: number; exclusive: boolean },
): ValueError {
  const { side, limit, exclusive } = bound;
  return invalid(place, value, `should be ${side} than ${exclusive ? '' : 'or equal to '}${goFloat(limit)}`);
}

export function notMultiple(place: Place, value: number | bigint, factor: number): ValueError {
  return invalid(place, value, `should be a multiple of ${goFloat(factor)}`);
}

export function factorNotPositive(place: Place, factor: number): ValueError {
  const name = place.toString();
  const text = `factor MultipleOf declared for ${name} must be positive: ${goFloat(factor)}`;
  return { text, toFieldError: (path) => FieldError.invalid(at(path, name), factor, text) };
}

/** An error that upstream reports without a field. */
function unplaced(text: string): ValueError {
  return { text, toFieldError: (path) => FieldError.invalid(path, '', text) };
}

export function outOfRange(place: Place, { noun, type, format }: { noun: string; type: string; format: string }): ValueError {
  return unplaced(`${noun} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${place}`);
}

export function noneOfAny(place: Place): ValueError {
  return unplaced(`"${place}" must validate at least one schema (anyOf)`);
}

export function notExactlyOne(place: Place, matchCount: number): ValueError {
  const detail = matchCount === 0 ? 'Found none valid' : `Found ${matchCount} valid alternatives`;
  return unplaced(`"${place}" must validate one and only one schema (oneOf). ${detail}`);
}

export function notAll(place: Place, validated: number): ValueError {
  return unplaced(`"${place}" must validate all the schemas (allOf)${validated === 0 ? '. None validated' : ''}`);
}

export function validatesNot(place: Place): ValueError {
  return unplaced(`"${place}" must not validate the schema (not)`);
}
