import { valuesEqual } from '../apply/typed-value.ts';
import { Regex } from '../cel/regexp/regex.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Correlation } from './correlation.ts';
import { isIntOrString, itemsOf, type JsonSchema, propertiesOf } from './json-schema.ts';
import { repeatedItems } from './list-types.ts';
import { NumberCheck } from './number-check.ts';
import { stringFormat } from './string-formats.ts';
import {
  duplicateItems,
  forbiddenProperty,
  missing,
  noMatch,
  noneOfAny,
  notAll,
  notExactlyOne,
  notInEnum,
  Place,
  tooFewItems,
  tooFewProperties,
  tooLong,
  tooManyItems,
  tooManyProperties,
  tooShort,
  type ValueError,
  validatesNot,
  wrongType,
} from './value-errors.ts';

/** The result of a validation. `matches` counts passed checks: if all alternatives fail, upstream explains the one that came closest. */
export class ValidationResult {
  readonly errors: ValueError[] = [];
  matches = 0;

  add(error: ValueError): void {
    if (!this.errors.some(({ text }) => text === error.text)) this.errors.push(error);
  }

  merge(other: ValidationResult): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }

  /** Discards errors after a position. */
  forgetAfter(count: number): void {
    this.errors.length = count;
  }
}

type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** Validates values against a schema, node by node, with the errors and order of upstream's library. */
export class ValueValidator {
  private readonly types: readonly string[];
  private readonly format: string;
  private readonly formatCheck: ((text: string) => boolean) | undefined;
  private readonly pattern: Regex | undefined;
  private readonly numbers: NumberCheck;
  private readonly items: ValueValidator | undefined;
  private readonly properties: ReadonlyMap<string, ValueValidator>;
  private readonly additional: ValueValidator | undefined;
  private readonly junctors: Junctors | undefined;

  constructor(private readonly schema: JsonSchema) {
    this.types = isIntOrString(schema) ? ['integer', 'string'] : schema.type ? [schema.type] : [];
    this.format = supportedFormat(this.types, schema.format ?? '');
    this.formatCheck = this.format === '' ? undefined : stringFormat(this.format);
    this.pattern = schema.pattern ? new Regex(schema.pattern) : undefined;
    this.numbers = new NumberCheck(schema, this.types, this.format);
    const items = itemsOf(schema);
    this.items = items === undefined ? undefined : new ValueValidator(items);
    this.properties = new Map(propertiesOf(schema).map(([name, property]) => [name, new ValueValidator(property)]));
    this.additional = typeof schema.additionalProperties === 'object' ? new ValueValidator(schema.additionalProperties) : undefined;
    this.junctors = Junctors.of(schema);
  }

  validate(value: JsonValue): ValidationResult {
    const result = new ValidationResult();
    this.check(value, Place.root, result);
    return result;
  }

  /** Validates a changed value: errors of unchanged parts are ignored. */
  validateUpdate(value: JsonValue, correlation: Correlation): ValidationResult {
    const result = new ValidationResult();
    this.checkCorrelated(value, { place: Place.root, correlation }, result);
    return result;
  }

  /** Without a correlation, every error counts. */
  check(value: JsonValue, place: Place, total: ValidationResult, correlation?: Correlation): void {
    if (value === null) {
      this.checkNull(place, total);
      return;
    }
    if (this.types.length > 0 || this.format !== '') this.checkType(value, place, total);
    if (this.junctors !== undefined) this.junctors.check(value, place, total);
    total.matches += 3;
    if (typeof value === 'string') this.checkString(value, place, total);
    else if (typeof value === 'number' || typeof value === 'bigint') {
      this.numbers.check(value, place, total);
      total.matches += 2;
    }
    if (isJsonArray(value)) this.checkItems(value, { place, correlation }, total);
    this.checkEnum(value, place, total);
    if (isJsonObject(value)) this.checkMembers(value, { place, correlation }, total);
    total.matches++;
  }

  private checkNull(place: Place, total: ValidationResult): void {
    if (this.types.length > 0 && this.schema.nullable !== true) total.add(wrongType(place, this.types.join(','), 'null'));
    else total.matches++;
    this.checkEnum(null, place, total);
  }

  private checkCorrelated(value: JsonValue, where: Where, total: ValidationResult): void {
    const before = total.errors.length;
    this.check(value, where.place, total, where.correlation);
    if (total.errors.length > before && where.correlation?.unchanged() === true) total.forgetAfter(before);
  }

  private checkType(value: JsonValue, place: Place, total: ValidationResult): void {
    total.matches++;
    const actual = typeOf(value);
    const { types, format } = this;
    const isText = actual === 'string' || actual === 'array';
    const isExpected = types.includes(actual) || (actual === 'integer' && types.includes('number'));
    const goFormat = actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : '';
    if (!isText && format !== '' && !isExpected && goFormat !== format) total.add(wrongType(place, format, goFormat));
    else if (isText && format !== '' && !types.includes('number') && !types.includes('integer')) total.matches++;
    else if (!isExpected) total.add(wrongType(place, types.join(','), actual));
    else total.matches++;
  }

  // Only the first error of a string counts.
  private checkString(value: string, place: Place, total: ValidationResult): void {
    total.matches++;
    const error = this.stringError(value, place);
    if (error !== undefined) total.add(error);
    if (this.formatCheck === undefined) return;
    total.matches++;
    if (!this.formatCheck(value)) total.add(wrongType(place, this.format, value));
  }

  private stringError(value: string, place: Place): ValueError | undefined {
    const { maxLength, minLength, pattern } = this.schema;
    if (maxLength !== undefined && isLongerThan(value, maxLength)) return tooLong(place, maxLength);
    if (minLength !== undefined && minLength > 0 && !isLongerThan(value, minLength - 1)) return tooShort(place, value, minLength);
    return this.pattern === undefined || this.pattern.test(value) ? undefined : noMatch(place, value, pattern ?? '');
  }

  private checkItems(list: readonly JsonValue[], { place, correlation }: Where, total: ValidationResult): void {
    const { items } = this;
    if (items !== undefined) {
      for (let i = 0; i < list.length; i++) {
        const child = correlation?.index(i);
        items.checkCorrelated(list[i] as JsonValue, { place: place.item(i), correlation: child }, total);
      }
    }
    const { minItems, maxItems, uniqueItems } = this.schema;
    if (minItems !== undefined && list.length < minItems) total.add(tooFewItems(place, list.length, minItems));
    if (maxItems !== undefined && list.length > maxItems) total.add(tooManyItems(place, list.length, maxItems));
    if (uniqueItems === true && repeatedItems(list).length > 0) total.add(duplicateItems(place));
    total.matches += 2;
  }

  private checkEnum(value: JsonValue, place: Place, total: ValidationResult): void {
    const allowed = this.schema.enum as readonly JsonValue[] | undefined;
    if (allowed === undefined || allowed.length === 0) return;
    if (value === null || !allowed.some((item) => valuesEqual(item, value))) total.add(notInEnum(place, value, allowed));
  }

  private checkMembers(object: JsonObject, where: Where, total: ValidationResult): void {
    const { place } = where;
    const names = Object.keys(object);
    const { minProperties, maxProperties, required = [] } = this.schema;
    total.matches++;
    if (minProperties !== undefined && names.length < minProperties) total.add(tooFewProperties(place, names.length, minProperties));
    if (maxProperties !== undefined && names.length > maxProperties) total.add(tooManyProperties(place, names.length, maxProperties));
    this.checkUndeclared(object, where, total);
    for (const [name, property] of this.properties) {
      if (!Object.hasOwn(object, name)) continue;
      const correlation = isTypeMeta(where, name) ? undefined : where.correlation?.key(name);
      property.checkCorrelated(object[name] as JsonValue, { place: place.property(name), correlation }, total);
    }
    for (const name of required) if (!Object.hasOwn(object, name)) total.add(missing(place.key(name)));
  }

  private checkUndeclared(object: JsonObject, { place, correlation }: Where, total: ValidationResult): void {
    const isForbidden = this.schema.additionalProperties === false;
    if (!isForbidden && this.additional === undefined) return;
    for (const name of Object.keys(object)) {
      if (this.properties.has(name)) continue;
      if (isForbidden) total.add(forbiddenProperty(place, name));
      const where = { place: place.key(name), correlation: correlation?.key(name) };
      this.additional?.checkCorrelated(object[name] as JsonValue, where, total);
    }
  }
}

interface Where {
  readonly place: Place;
  readonly correlation: Correlation | undefined;
}

// apiVersion and kind are the same in the old and the new object.
function isTypeMeta({ place }: Where, name: string): boolean {
  return place.isRoot && (name === 'apiVersion' || name === 'kind');
}

/** allOf, anyOf, oneOf and not. */
class Junctors {
  static of({ allOf = [], anyOf = [], oneOf = [], not }: JsonSchema): Junctors | undefined {
    if (allOf.length === 0 && anyOf.length === 0 && oneOf.length === 0 && not === undefined) return undefined;
    return new Junctors({
      allOf: validators(allOf),
      anyOf: validators(anyOf),
      oneOf: validators(oneOf),
      not: not && new ValueValidator(not),
    });
  }

  private constructor(
    private readonly clauses: {
      readonly allOf: readonly ValueValidator[];
      readonly anyOf: readonly ValueValidator[];
      readonly oneOf: readonly ValueValidator[];
      readonly not: ValueValidator | undefined;
    },
  ) {}

  check(value: JsonValue, place: Place, total: ValidationResult): void {
    this.checkAny(value, place, total);
    this.checkOne(value, place, total);
    this.checkAll(value, place, total);
    const { not } = this.clauses;
    if (not !== undefined && outcome(not, value, place).errors.length === 0) total.add(validatesNot(place));
  }

  private checkAny(value: JsonValue, place: Place, total: ValidationResult): void {
    const { anyOf } = this.clauses;
    if (anyOf.length === 0) return;
    let best: ValidationResult | undefined;
    for (const clause of anyOf) {
      const result = outcome(clause, value, place);
      if (result.errors.length === 0) {
        total.merge(result);
        return;
      }
      if (best === undefined || result.matches > best.matches) best = result;
    }
    total.add(noneOfAny(place));
    if (best !== undefined) total.merge(best);
  }

  private checkOne(value: JsonValue, place: Place, total: ValidationResult): void {
    const { oneOf } = this.clauses;
    if (oneOf.length === 0) return;
    const results = oneOf.map((clause) => outcome(clause, value, place));
    const valid = results.filter(({ errors }) => errors.length === 0);
    const [first] = valid;
    if (valid.length === 1 && first !== undefined) {
      total.merge(first);
      return;
    }
    total.add(notExactlyOne(place, valid.length));
    const best = results.reduce((a, b) => (b.matches > a.matches ? b : a));
    if (valid.length === 0) total.merge(best);
  }

  private checkAll(value: JsonValue, place: Place, total: ValidationResult): void {
    const { allOf } = this.clauses;
    const results = allOf.map((clause) => outcome(clause, value, place));
    for (const result of results) total.merge(result);
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    if (valid !== allOf.length) total.add(notAll(place, valid));
  }
}

function validators(schemas: readonly JsonSchema[]): ValueValidator[] {
  return schemas.map((schema) => new ValueValidator(schema));
}

function outcome(validator: ValueValidator, value: JsonValue, place: Place): ValidationResult {
  const result = new ValidationResult();
  validator.check(value, place, result);
  return result;
}

function typeOf(value: JsonValue): JsonType {
  if (isJsonArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'object') return 'object';
  return isInteger(value) ? 'integer' : 'number';
}

// Upstream too treats integers beyond 64 bits as floats.
function isInteger(value: number | bigint): boolean {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value;
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

// Unknown formats, and formats of other types, are ignored.
function supportedFormat(types: readonly string[], format: string): string {
  const [type = ''] = types.length === 1 ? types : [];
  switch (type) {
    case '':
    case 'string':
      return stringFormat(format) === undefined ? '' : format;
    case 'integer':
      return format === 'int32' || format === 'int64' ? format : '';
    case 'number':
      return format === 'float' || format === 'double' ? format : '';
    default:
      return '';
  }
}

// Characters are counted only as far as needed.
function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let count = 0;
  for (const _ of text) if (++count > max) return true;
  return false;
}
