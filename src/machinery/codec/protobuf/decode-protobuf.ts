import { type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../../json/json-value.ts';
import { parseJson } from '../../json/parse-json.ts';
import type { ObjectSchema } from '../../schema.ts';
import { formatDuration } from '../../values/duration.ts';
import { Quantity, QuantityError } from '../../values/quantity.ts';
import { formatMicroTime, formatTime, ZERO_TIME_SECONDS } from '../time-text.ts';
import { type ProtoField, ProtoOp, type ProtoPlan, protoPlanOf } from './proto-plan.ts';
import { ProtobufError } from './protobuf-error.ts';
import { WireType } from './wire.ts';
import { WireReader } from './wire-reader.ts';

/** Deeper than any message of ours; guards the stack against a hostile one. */
const MAX_DEPTH = 1000;

/** Every bit set: no field is known to be absent. */
const ALL_MET = -1;

/** Times that have a four-digit year; others cannot be written. */
const MAX_TIME_SECONDS = 253_402_300_799;

/**
 * Decodes a protobuf message of `schema` (without its envelope) to a canonical object, as `decodeObject` gives it. Fields that the schema
 * does not know are skipped. Throws ProtobufError.
 */
export function decodeProtobuf(schema: ObjectSchema, bytes: Uint8Array): JsonObject {
  return new ProtobufDecoder(bytes).root(protoPlanOf(schema));
}

class ProtobufDecoder {
  private readonly reader: WireReader;
  private depth = 0;

  constructor(bytes: Uint8Array) {
    this.reader = new WireReader(bytes);
  }

  root(plan: ProtoPlan): JsonObject {
    const out: MutableJsonObject = {};
    this.fields(plan, this.reader.length, out, true);
    return fillIn(plan, out);
  }

  /** Reads a message into `out`; `isFresh` if it has none of the message's fields yet. */
  private fields(plan: ProtoPlan, end: number, out: MutableJsonObject, isFresh: boolean): void {
    const { reader } = this;
    if (++this.depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth');
    // A bit for each field read: cheaper than checking the object for an earlier occurrence, which is rare.
    let met = isFresh ? 0 : ALL_MET;
    let last: ProtoField | undefined;
    let collected: JsonValue[] | MutableJsonObject = [];
    while (reader.position < end) {
      const tag = reader.varint();
      const field = plan.byNumber[tag >>> 3];
      if (field === undefined) {
        this.skip(plan, tag);
        continue;
      }
      const bit = field.number < 32 ? 1 << field.number : 0;
      const isFirst = bit !== 0 && (met & bit) === 0;
      met |= bit;
      if (field.isRepeated || field.op === ProtoOp.map) {
        // Items are consecutive: their list is looked up once.
        if (field !== last) collected = this.collectionOf(field, out, isFirst);
        if (field.isRepeated) this.item(field, tag, collected as JsonValue[]);
        else this.entry(field, tag, collected as MutableJsonObject);
      } else this.single(field, tag, out, isFirst);
      last = field;
    }
    this.checkEnd(end);
    this.depth--;
  }

  private skip(plan: ProtoPlan, tag: number): void {
    const wireType = tag & 7;
    if (tag >>> 3 === 0 || wireType === WireType.endGroup) {
      throw new ProtobufError(`proto: ${plan.name}: illegal tag ${tag >>> 3} (wire type ${tag})`);
    }
    this.reader.skip(wireType);
  }

  private collectionOf(field: ProtoField, out: MutableJsonObject, isFirst: boolean): JsonValue[] | MutableJsonObject {
    const existing = isFirst ? undefined : out[field.name];
    if (existing !== undefined) return existing as unknown as JsonValue[] | MutableJsonObject;
    const collection = field.isRepeated ? [] : {};
    out[field.name] = collection;
    return collection;
  }

  private item(field: ProtoField, tag: number, list: JsonValue[]): void {
    if (tag === field.tag) {
      list.push(this.value(field, undefined));
      return;
    }
    if ((tag & 7) !== WireType.bytes || field.op > ProtoOp.double || field.op === ProtoOp.string) throw wrongWireType(field, tag);
    const end = this.reader.end();
    while (this.reader.position < end) list.push(this.value(field, undefined));
    this.checkEnd(end);
  }

  private single(field: ProtoField, tag: number, out: MutableJsonObject, isFirst: boolean): void {
    if (tag !== field.tag) throw wrongWireType(field, tag);
    if (field.op === ProtoOp.embedded) {
      this.fields(field.plan as ProtoPlan, this.reader.end(), out, isFirst);
      return;
    }
    const before = isFirst ? undefined : out[field.name];
    const value = this.value(field, field.op === ProtoOp.message ? before : undefined);
    if (value !== null && !(field.dropsZero && (value === '' || value === 0 || value === false))) out[field.name] = value;
    // A later zero overrides an earlier value.
    else if (before !== undefined) delete out[field.name];
  }

  private entry(field: ProtoField, tag: number, map: MutableJsonObject): void {
    if (tag !== field.tag) throw wrongWireType(field, tag);
    const { reader } = this;
    const inner = field.inner as ProtoField;
    const end = reader.end();
    let key = '';
    let value: JsonValue | undefined;
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === inner.tag) value = this.value(inner, undefined);
      else if (tag === 0x0a) key = reader.string();
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    setKey(map, key, value ?? zeroOf(inner));
  }

  /** `before` is the result of an earlier occurrence of the same message: occurrences merge. */
  private value(field: ProtoField, before: JsonValue | undefined): JsonValue {
    const { reader } = this;
    switch (field.op) {
      case ProtoOp.string:
        return reader.string();
      case ProtoOp.bool:
        return reader.int64() !== 0;
      case ProtoOp.int32:
        return reader.int32();
      case ProtoOp.int64:
        return reader.int64();
      case ProtoOp.double:
        return finite(reader.double());
      case ProtoOp.bytes:
        return reader.base64();
      case ProtoOp.message:
        return this.message(field.plan as ProtoPlan, before);
      default:
        return this.special(field);
    }
  }

  private message(plan: ProtoPlan, before: JsonValue | undefined): JsonValue {
    const end = this.reader.end();
    if (end === this.reader.position && before === undefined) return plan.zero;
    const out: MutableJsonObject = before === undefined ? {} : { ...(before as JsonObject) };
    this.fields(plan, end, out, before === undefined);
    return fillIn(plan, out);
  }

  private special(field: ProtoField): JsonValue {
    switch (field.op) {
      case ProtoOp.quantity:
        return canonicalQuantity(this.firstText());
      case ProtoOp.time:
        return this.time(false);
      case ProtoOp.microTime:
        return this.time(true);
      case ProtoOp.intOrString:
        return this.intOrString();
      case ProtoOp.duration:
        return this.duration();
      case ProtoOp.raw:
        return parseRaw(this.firstText());
      case ProtoOp.wrappedList:
        return this.wrappedList(field.inner as ProtoField);
      default:
        return this.schemaOr(field);
    }
  }

  /** Of the messages that hold nothing else: Quantity, RawExtension, FieldsV1, JSON. */
  private firstText(): string {
    const { reader } = this;
    const end = reader.end();
    let text = '';
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === 0x0a) text = reader.string();
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    return text;
  }

  private duration(): JsonValue {
    const { reader } = this;
    const end = reader.end();
    let nanoseconds: number | bigint = 0;
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === 0x08) nanoseconds = reader.int64();
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    return formatDuration(BigInt(nanoseconds));
  }

  /** An empty message is the zero time. */
  private time(hasMicros: boolean): JsonValue {
    const { reader } = this;
    const end = reader.end();
    if (end === reader.position) return null;
    let seconds = 0;
    let nanos = 0;
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === 0x08) seconds = Number(reader.int64());
      else if (tag === 0x10) nanos = reader.int32();
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    if (seconds === ZERO_TIME_SECONDS) return null;
    checkTime(seconds, nanos);
    return hasMicros ? formatMicroTime({ seconds, nanos }) : formatTime(seconds);
  }

  private intOrString(): JsonValue {
    const { reader } = this;
    const end = reader.end();
    let type = 0;
    let number = 0;
    let text = '';
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === 0x08) type = reader.varint();
      else if (tag === 0x10) number = reader.int32();
      else if (tag === 0x1a) text = reader.string();
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    return type === 1 ? text : number;
  }

  private wrappedList(inner: ProtoField): JsonValue {
    const { reader } = this;
    const end = reader.end();
    const items: JsonValue[] = [];
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === inner.tag) items.push(this.value(inner, undefined));
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    return items.length === 0 ? null : items;
  }

  private schemaOr(field: ProtoField): JsonValue {
    const { reader } = this;
    const end = reader.end();
    const isBool = field.op === ProtoOp.schemaOrBool;
    let allows = false;
    let schema: JsonValue | undefined;
    const items: JsonValue[] = [];
    while (reader.position < end) {
      const tag = reader.varint();
      if (tag === 0x08 && isBool) allows = reader.varint() !== 0;
      else if (tag === (isBool ? 0x12 : 0x0a)) schema = this.message(field.plan as ProtoPlan, schema);
      else if (tag === 0x12)
        items.push(field.op === ProtoOp.schemaOrArray ? this.message(field.plan as ProtoPlan, undefined) : reader.string());
      else reader.skip(tag & 7);
    }
    this.checkEnd(end);
    if (items.length > 0) return items;
    return schema ?? (isBool ? allows : null);
  }

  /** The parts of a message may not reach beyond it. */
  private checkEnd(end: number): void {
    if (this.reader.position !== end) throw new ProtobufError('unexpected EOF');
  }
}

function fillIn(plan: ProtoPlan, out: MutableJsonObject): MutableJsonObject {
  for (const { name, absent } of plan.alwaysPresent) if (out[name] === undefined) out[name] = absent;
  return out;
}

/** The default for a map entry without a value. */
function zeroOf(field: ProtoField): JsonValue {
  switch (field.op) {
    case ProtoOp.string:
    case ProtoOp.bytes:
      return '';
    case ProtoOp.bool:
      return false;
    case ProtoOp.int32:
    case ProtoOp.int64:
    case ProtoOp.double:
    case ProtoOp.intOrString:
      return 0;
    case ProtoOp.quantity:
      return '0';
    default:
      return field.plan?.zero ?? null;
  }
}

function canonicalQuantity(text: string): string {
  if (text === '') return '0';
  try {
    return Quantity.parse(text).toString();
  } catch (error) {
    if (error instanceof QuantityError) throw new ProtobufError(error.message, { cause: error });
    throw error;
  }
}

/** This many consecutive digits may be an integer beyond a double's precision. */
const LONG_INTEGER = /\d{16}/;

function parseRaw(text: string): JsonValue {
  if (text === '') return null;
  try {
    return LONG_INTEGER.test(text) ? parseJson(text).value : (JSON.parse(text) as JsonValue);
  } catch (cause) {
    throw new ProtobufError('an embedded value is not JSON', { cause });
  }
}

function checkTime(seconds: number, nanos: number): void {
  const isPossible = seconds > ZERO_TIME_SECONDS && seconds <= MAX_TIME_SECONDS && nanos >= 0 && nanos < 1e9;
  if (!isPossible) throw new ProtobufError(`proto: Timestamp: seconds ${seconds}, nanos ${nanos} out of range`);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new ProtobufError(`proto: number ${value} has no JSON form`);
  return value;
}

function wrongWireType({ name }: ProtoField, tag: number): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${tag & 7} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}
