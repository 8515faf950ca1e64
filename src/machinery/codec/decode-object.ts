import type { WrittenMember, WrittenMembers } from '../json/exact-json-parser.ts';
import { isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import type { ObjectSchema, Schema } from '../schema.ts';
import { formatDuration, parseDuration } from '../values/duration.ts';
import { goQuote } from '../values/go-format.ts';
import { Quantity, QuantityError } from '../values/quantity.ts';
import { Base64TextError, canonicalBase64 } from './base64-text.ts';
import { collapseRepeats } from './collapse-repeats.ts';
import { type FieldPlan, Op, type Plan, planOf } from './decode-plan.ts';
import { asInteger, fillIn, isZero, membersOfPlan, STRING_LIST } from './decoded-values.ts';
import { goTypeName } from './go-type-name.ts';
import {
  canonicalSeconds,
  formatMicroTime,
  formatTime,
  isCanonicalMicro,
  parseMicroTime,
  parseTime,
  TimeTextError,
  ZERO_TIME_SECONDS,
} from './time-text.ts';

export interface DecodedObject {
  /** The canonical object, sharing canonical parts of the input. Invalid if there is an `error`. */
  readonly object: JsonObject;
  /** The first value of a wrong type or form, in upstream's words. */
  readonly error?: string;
  /** What `fieldValidation` is about, in document order: `unknown field "spec.nope"`, `duplicate field "data.a"`. At most 100. */
  readonly problems: readonly string[];
}

/** Upstream's limit. */
const MAX_PROBLEMS = 100;
/** No schema is this deep, except for a hostile CRD's. */
const MAX_DEPTH = 500;

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** A document with more objects in its lists and keys in its maps than its reader takes. */
export class TooManyItemsError extends Error {
  override readonly name = 'TooManyItemsError';
}

export interface DecodeOptions {
  readonly written?: WrittenMembers | undefined;
  readonly existing?: JsonObject | undefined;
  /** How many objects its lists and keys its maps may have together: throws TooManyItemsError. */
  readonly maxItems?: number;
}

/**
 * Decodes a parsed JSON value as an object of `schema`: types are checked, unknown fields dropped and reported, and every value converted to
 * its canonical form. Never mutates its input, and returns it if it is canonical.
 * `written` has details of the text that the value lacks. Repeated keys are decoded repeatedly: reported if the schema knows them, and
 * merged as upstream does. `known` is an object that was decoded before: identical fields are taken
 * from it.
 */
export function decodeObject(schema: ObjectSchema, value: JsonValue, { written, existing, maxItems }: DecodeOptions = {}): DecodedObject {
  if (!isJsonObject(value)) {
    const error = `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goTypeName(schema)}`;
    return { object: planOf(schema).zero as JsonObject, error, problems: [] };
  }
  const plan = planOf(schema);
  const decoded = new Walk(written, maxItems).run(plan, value, existing);
  if (written === undefined || decoded.error !== undefined) return decoded;
  const { object } = new Walk().run(plan, collapseRepeats(plan, value, written));
  return { ...decoded, object };
}

/** Why a standalone value cannot be decoded as `schema`, in upstream's words. */
export function valueError(schema: Schema, value: JsonValue): string | undefined {
  return new Walk().errorOf(planOf(schema), value);
}

function jsonKind(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

// One file: a single pass over the document, whose steps share the current path and the problems so far.
class Walk {
  private readonly problems: string[] = [];
  private error: string | undefined;
  private isFatal = false;
  /** The path from the root: keys and indices, and the field if a key names one. */
  private depth = 0;
  private readonly keys: (string | number)[] = [];
  private readonly steps: (FieldPlan | undefined)[] = [];
  private readonly structs: Plan[] = [];
  /** In forms that upstream decodes separately, unknown fields are not reported. */
  private lenient = 0;

  /** The notation of the current number, if it is not a plain integer. */
  private numberText: string | undefined;

  /** With `written` the walk visits every member of the text, but its result is unusable. */
  constructor(
    private readonly written?: WrittenMembers,
    private itemsLeft = Number.POSITIVE_INFINITY,
  ) {}

  run(plan: Plan, value: JsonObject, existing?: JsonObject): DecodedObject {
    const object = this.object(plan, value, existing) as JsonObject;
    return { object, ...(this.error !== undefined && { error: this.error }), problems: this.problems };
  }

  errorOf(plan: Plan, value: JsonValue): string | undefined {
    this.value(plan, value);
    return this.error;
  }

  private value(plan: Plan, value: JsonValue): JsonValue {
    switch (plan.op) {
      case Op.string:
        return typeof value === 'string' ? value : this.mismatch(plan, value);
      case Op.bool:
        return typeof value === 'boolean' ? value : this.mismatch(plan, value);
      case Op.int32:
        return typeof value === 'number' && (value | 0) === value ? value : this.mismatch(plan, value);
      case Op.int64:
        return typeof value === 'number' && Number.isSafeInteger(value) ? value : this.bigInteger(plan, value);
      case Op.object:
        return this.object(plan, value);
      case Op.list:
        return this.list(plan, value);
      case Op.map:
        return this.map(plan, value);
      case Op.any:
        return value;
      default:
        return this.rarer(plan, value);
    }
  }

  private rarer(plan: Plan, value: JsonValue): JsonValue {
    switch (plan.op) {
      case Op.quantity:
        return this.quantity(plan, value);
      case Op.time:
        return typeof value === 'string' ? this.time(value) : this.fatalMismatch(plan, value);
      case Op.microTime:
        return typeof value === 'string' ? this.microTime(value) : this.fatalMismatch(plan, value);
      case Op.duration:
        return typeof value === 'string' ? this.duration(plan, value) : this.fatalMismatch(plan, value);
      case Op.intOrString:
        return typeof value === 'string' || (typeof value === 'number' && (value | 0) === value) ? value : this.fatalMismatch(plan, value);
      case Op.double:
        if (typeof value === 'bigint') return Number(value);
        return typeof value === 'number' ? value : this.mismatch(plan, value);
      case Op.bytes:
        if (Array.isArray(value)) return this.byteList(plan, value);
        return typeof value === 'string' ? this.bytes(value) : this.mismatch(plan, value);
      default:
        return this.schemaOr(plan, value);
    }
  }

  private object(plan: Plan, value: JsonValue, existing?: JsonObject): JsonValue {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.mismatch(plan, value);
    const source = value as JsonObject;
    if (this.depth >= MAX_DEPTH) return this.fatal('exceeded max depth', plan.zero);
    this.structs[this.depth] = plan;
    const members = this.written?.get(source);
    if (members !== undefined) return this.writtenObject(plan, members);
    let out: MutableJsonObject | undefined;
    let drops = false;
    let size = 0;
    for (const key in source) {
      const field = plan.fields.get(key);
      const old = source[key] as JsonValue;
      if (field === undefined) {
        if (plan.preserveUnknown) continue;
        this.unknown(key);
        drops = true;
        continue;
      }
      if (field.keepsZero) size++;
      if (existing !== undefined && old === existing[key]) continue;
      const next = old === null ? field.absent : this.field(field, old);
      if (next === old) continue;
      out ??= { ...source };
      if (next === undefined) drops = true;
      setKey(out, key, next as JsonValue);
    }
    if (drops) out = membersOfPlan(plan, out ?? source);
    return size === plan.alwaysPresent.length ? (out ?? value) : fillIn(plan.alwaysPresent, out ?? { ...source });
  }

  private field(field: FieldPlan, value: JsonValue): JsonValue | undefined {
    const { plan } = field;
    // The commonest case by far.
    if (plan.op === Op.string && typeof value === 'string') return value === '' && field.dropsZero ? undefined : value;
    this.push(field.name, field);
    const decoded = this.value(plan, value);
    this.depth--;
    // Some texts mean "unset", such as the zero time.
    if (decoded === null) return field.absent;
    return field.dropsZero && isZero(plan, decoded) ? undefined : decoded;
  }

  private list(plan: Plan, value: JsonValue): JsonValue {
    if (!Array.isArray(value)) return this.mismatch(plan, value);
    const items = value as readonly JsonValue[];
    const inner = plan.inner as Plan;
    if (inner.op === Op.object) this.countItems(items.length);
    const members = this.written?.get(items);
    if (members !== undefined) return this.writtenEntries(plan, members);
    let out: JsonValue[] | undefined;
    for (let i = 0; i < items.length; i++) {
      const old = items[i] as JsonValue;
      const next = this.entry(inner, i, old);
      if (next === old) continue;
      out ??= items.slice();
      out[i] = next;
    }
    return out ?? items;
  }

  private countItems(count: number): void {
    this.itemsLeft -= count;
    if (this.itemsLeft < 0) throw new TooManyItemsError(`too many items in ${this.path(this.depth)}`);
  }

  private map(plan: Plan, value: JsonValue): JsonValue {
    if (typeof value !== 'object' || Array.isArray(value)) return this.mismatch(plan, value);
    const source = value as JsonObject;
    const inner = plan.inner as Plan;
    const members = this.written?.get(source as object);
    if (members !== undefined) return this.writtenEntries(plan, members);
    let out: MutableJsonObject | undefined;
    for (const key in source) {
      if (--this.itemsLeft < 0) this.countItems(0);
      const old = source[key] as JsonValue;
      const next = this.entry(inner, key, old);
      if (next === old) continue;
      out ??= { ...source };
      setKey(out, key, next);
    }
    return out ?? source;
  }

  private entry(plan: Plan, key: string | number, value: JsonValue): JsonValue {
    if (value === null) return plan.zero;
    if (plan.op === Op.string && typeof value === 'string') return value;
    this.push(key, undefined);
    const decoded = this.value(plan, value);
    this.depth--;
    return decoded;
  }

  private push(key: string | number, step: FieldPlan | undefined): void {
    this.keys[this.depth] = key;
    this.steps[this.depth] = step;
    this.depth++;
  }

  private writtenObject(plan: Plan, members: readonly WrittenMember[]): JsonValue {
    const seen = new Set<string | number>();
    for (const { key, value, text } of members) {
      const field = plan.fields.get(key as string);
      if (field === undefined) {
        if (!plan.preserveUnknown) this.unknown(key as string);
        continue;
      }
      this.noteKey(seen, key);
      this.numberText = text;
      if (value !== null) this.field(field, asInteger(field.plan, value, text));
    }
    this.numberText = undefined;
    return plan.zero;
  }

  private writtenEntries(plan: Plan, members: readonly WrittenMember[]): JsonValue {
    const seen = new Set<string | number>();
    const inner = plan.inner as Plan;
    for (const { key, value, text } of members) {
      this.noteKey(seen, key);
      this.numberText = text;
      this.entry(inner, key, asInteger(inner, value, text));
    }
    this.numberText = undefined;
    return plan.zero;
  }

  private noteKey(seen: Set<string | number>, key: string | number): void {
    if (seen.has(key)) this.problem('duplicate', key);
    else seen.add(key);
  }

  private bigInteger(plan: Plan, value: JsonValue): JsonValue {
    if (typeof value !== 'bigint' || value < MIN_INT64 || value > MAX_INT64) return this.mismatch(plan, value);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  private quantity(plan: Plan, value: JsonValue): JsonValue {
    try {
      // Objects and lists are no quantities, even if their text is.
      const isStructure = typeof value === 'object' && value !== null;
      const read = this.numberText ?? (isStructure ? '{}' : value === null || typeof value === 'boolean' ? String(value) : value);
      return Quantity.fromJson(read).toString();
    } catch (error) {
      if (error instanceof QuantityError) return this.fatal(error.message, plan.zero);
      throw error;
    }
  }

  private time(text: string): JsonValue {
    const seconds = canonicalSeconds(text);
    if (seconds === ZERO_TIME_SECONDS) return null;
    return Number.isNaN(seconds) ? this.parsedTime(() => formatTime(parseTime(text).seconds)) : text;
  }

  private microTime(text: string): JsonValue {
    return isCanonicalMicro(text) ? text : this.parsedTime(() => formatMicroTime(parseMicroTime(text)));
  }

  private parsedTime(parse: () => string): JsonValue {
    try {
      return parse();
    } catch (error) {
      if (error instanceof TimeTextError) return this.fatal(error.message, null);
      throw error;
    }
  }

  private duration(plan: Plan, text: string): JsonValue {
    try {
      return formatDuration(parseDuration(text));
    } catch (error) {
      return this.fatal((error as Error).message, plan.zero);
    }
  }

  private bytes(text: string): JsonValue {
    try {
      return canonicalBase64(text);
    } catch (error) {
      if (!(error instanceof Base64TextError)) throw error;
      this.error ??= error.message;
      return null;
    }
  }

  /** Bytes may also be written as a list of numbers. */
  private byteList(plan: Plan, list: readonly JsonValue[]): JsonValue {
    const bytes = Buffer.alloc(list.length);
    for (const [index, byte] of list.entries()) {
      if (typeof byte === 'number' && Number.isInteger(byte) && byte >= 0 && byte <= 255) bytes[index] = byte;
      else if (byte !== null) this.error ??= this.mismatchText({ ...plan, op: Op.int32, typeName: 'uint8' }, byte);
    }
    return bytes.toString('base64');
  }

  private schemaOr(plan: Plan, value: JsonValue): JsonValue {
    const isList = Array.isArray(value);
    if (plan.op === Op.schemaOrBool) {
      if (typeof value === 'boolean') return value;
      if (typeof value !== 'object' || isList) return this.fatal('boolean or JSON schema expected', null);
    }
    if (typeof value !== 'object') return null;
    this.lenient++;
    const decoded = isList ? this.schemaList(plan, value) : this.object(plan.inner as Plan, value);
    this.lenient--;
    return decoded;
  }

  private schemaList(plan: Plan, items: JsonValue): JsonValue {
    if ((items as readonly JsonValue[]).length === 0) return null;
    return this.list(plan.op === Op.schemaOrArray ? { ...plan, op: Op.list } : STRING_LIST, items);
  }

  private unknown(key: string): void {
    this.problem('unknown', key);
  }

  private problem(mistake: 'unknown' | 'duplicate', key: string | number): void {
    if (this.lenient > 0 || this.problems.length >= MAX_PROBLEMS) return;
    this.keys[this.depth] = key;
    const problem = `${mistake} field ${goQuote(this.path(this.depth + 1))}`;
    // Only a text with repeated keys can have the same problem twice.
    if (this.written === undefined || !this.problems.includes(problem)) this.problems.push(problem);
  }

  private path(length: number): string {
    let path = '';
    for (let i = 0; i < length; i++) {
      const key = this.keys[i] as string | number;
      path += typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`;
    }
    return path;
  }

  /** Upstream records the first mismatch and continues. */
  private mismatch(plan: Plan, value: JsonValue): JsonValue {
    this.error ??= this.mismatchText(plan, value);
    return plan.zero;
  }

  /** Types with their own decoder end the decoding; their error replaces a recorded mismatch. */
  private fatalMismatch(plan: Plan, value: JsonValue): JsonValue {
    return this.fatal(this.mismatchText(plan, value), plan.zero);
  }

  private fatal(message: string, result: JsonValue): JsonValue {
    if (!this.isFatal) this.error = message;
    this.isFatal = true;
    return result;
  }

  private mismatchText(plan: Plan, value: JsonValue): string {
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    const wantsNumber = plan.op === Op.int32 || plan.op === Op.int64 || plan.op === Op.intOrString;
    const kind = isNumber && wantsNumber ? `number ${this.numberText ?? value}` : jsonKind(value);
    const where = this.depth === 0 ? 'value' : `struct field ${this.location()}`;
    return `json: cannot unmarshal ${kind} into Go ${where} of type ${plan.typeName}`;
  }

  /** The innermost struct, and the fields that lead there; indices and map keys are not named. */
  private location(): string {
    const names: string[] = [];
    let struct = '';
    for (let i = 0; i < this.depth; i++) {
      const step = this.steps[i];
      if (step === undefined) continue;
      names.push(step.errorName);
      struct = this.structs[i]?.structName ?? '';
    }
    return `${struct}.${names.join('.')}`;
  }
}
