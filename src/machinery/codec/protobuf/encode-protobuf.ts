import { encodeJson } from '../../json/encode-json.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { bytesOnce, recurs } from '../../objects/recurring.ts';
import type { ObjectSchema } from '../../schema.ts';
import { parseDuration } from '../../values/duration.ts';
import { canonicalSeconds } from '../time-text.ts';
import { type ProtoField, ProtoOp, type ProtoPlan, protoPlanOf } from './proto-plan.ts';
import { tagOf, WireType } from './wire.ts';
import { WireWriter } from './wire-writer.ts';

/** Encodes a canonical object as the protobuf message of its schema, without an envelope; `apiVersion` and `kind` are not part of it. */
export function encodeProtobuf(schema: ObjectSchema, object: JsonObject): Buffer {
  return encodeMessage(object, protoPlanOf(schema));
}

function encodeMessage(object: JsonObject, plan: ProtoPlan): Buffer {
  const encoder = new ProtobufEncoder();
  encoder.fields(plan, object);
  return encoder.writer.finish();
}

const encodeRecurring = bytesOnce(encodeMessage);

const KEY_TAG = tagOf(1, WireType.bytes);
const FIRST_BYTES = tagOf(1, WireType.bytes);
const FIRST_VARINT = tagOf(1, WireType.varint);
const SECOND_BYTES = tagOf(2, WireType.bytes);
const SECOND_VARINT = tagOf(2, WireType.varint);
const THIRD_BYTES = tagOf(3, WireType.bytes);

class ProtobufEncoder {
  readonly writer = new WireWriter();

  fields(plan: ProtoPlan, object: JsonObject): void {
    let hasEmbedded = false;
    for (const key in object) {
      const field = plan.byName.get(key);
      const value = object[key];
      if (field === undefined || value === null || value === undefined) continue;
      if (field.embeddedIn === undefined) this.field(field, value);
      else hasEmbedded = true;
    }
    if (hasEmbedded) for (const carrier of plan.embedded) this.embedded(carrier, object);
  }

  private embedded(carrier: ProtoField, object: JsonObject): void {
    const plan = carrier.plan as ProtoPlan;
    if (!Object.keys(object).some((key) => plan.byName.has(key))) return;
    this.writer.varint(carrier.tag);
    const at = this.writer.begin();
    this.fields(plan, object);
    this.writer.end(at);
  }

  private field(field: ProtoField, value: JsonValue): void {
    if (field.isRepeated) for (const item of value as readonly JsonValue[]) this.tagged(field, item);
    else if (field.op === ProtoOp.map) this.map(field, value as JsonObject);
    else this.tagged(field, value);
  }

  private map(field: ProtoField, entries: JsonObject): void {
    for (const key in entries) {
      this.writer.varint(field.tag);
      const at = this.writer.begin();
      this.writer.varint(KEY_TAG);
      this.writer.string(key);
      this.tagged(field.inner as ProtoField, entries[key] as JsonValue);
      this.writer.end(at);
    }
  }

  private tagged(field: ProtoField, value: JsonValue): void {
    const { writer } = this;
    writer.varint(field.tag);
    switch (field.op) {
      case ProtoOp.string:
        writer.string(value as string);
        break;
      case ProtoOp.bool:
        writer.varint(value ? 1 : 0);
        break;
      case ProtoOp.int32:
      case ProtoOp.int64:
        writer.int64(value as number | bigint);
        break;
      case ProtoOp.double:
        writer.double(value as number);
        break;
      case ProtoOp.bytes:
        writer.base64((value as string | null) ?? '');
        break;
      default:
        this.message(field, value);
        break;
    }
  }

  private message(field: ProtoField, value: JsonValue): void {
    const at = this.writer.begin();
    if (value !== null) this.content(field, value);
    this.writer.end(at);
  }

  private content(field: ProtoField, value: JsonValue): void {
    switch (field.op) {
      case ProtoOp.message:
        this.nested(field.plan as ProtoPlan, value as JsonObject);
        break;
      case ProtoOp.quantity:
        this.first(value as string);
        break;
      case ProtoOp.time:
      case ProtoOp.microTime:
        this.time(value as string);
        break;
      case ProtoOp.intOrString:
        this.intOrString(value as number | string);
        break;
      case ProtoOp.duration:
        this.writer.varint(FIRST_VARINT);
        this.writer.int64(parseDuration(value as string));
        break;
      case ProtoOp.raw:
        this.first(encodeJson(value));
        break;
      case ProtoOp.wrappedList:
        for (const item of value as readonly JsonValue[]) this.tagged(field.inner as ProtoField, item);
        break;
      default:
        this.schemaOr(field, value);
        break;
    }
  }

  private nested(plan: ProtoPlan, value: JsonObject): void {
    if (recurs(value)) this.writer.raw(encodeRecurring(value, plan));
    else this.fields(plan, value);
  }

  private first(text: string): void {
    this.writer.varint(FIRST_BYTES);
    this.writer.string(text);
  }

  private time(text: string): void {
    this.writer.varint(FIRST_VARINT);
    this.writer.int64(canonicalSeconds(`${text.slice(0, 19)}Z`));
    const micros = text.length > 20 ? Number(text.slice(20, 26)) : 0;
    if (micros === 0) return;
    this.writer.varint(SECOND_VARINT);
    this.writer.int64(micros * 1000);
  }

  private intOrString(value: number | string): void {
    const isText = typeof value === 'string';
    this.writer.varint(FIRST_VARINT);
    this.writer.varint(isText ? 1 : 0);
    this.writer.varint(isText ? THIRD_BYTES : SECOND_VARINT);
    if (isText) this.writer.string(value);
    else this.writer.int64(value);
  }

  private schemaOr(field: ProtoField, value: JsonValue): void {
    if (field.op === ProtoOp.schemaOrBool) this.schemaOrBool(field, value);
    else if (Array.isArray(value)) for (const item of value) this.alternative(field, item);
    else this.schema(FIRST_BYTES, field, value);
  }

  private alternative(field: ProtoField, item: JsonValue): void {
    if (field.op === ProtoOp.schemaOrArray) this.schema(SECOND_BYTES, field, item);
    else this.second(item as string);
  }

  private second(text: string): void {
    this.writer.varint(SECOND_BYTES);
    this.writer.string(text);
  }

  private schemaOrBool(field: ProtoField, value: JsonValue): void {
    this.writer.varint(FIRST_VARINT);
    this.writer.varint(value === false ? 0 : 1);
    if (typeof value !== 'boolean') this.schema(SECOND_BYTES, field, value);
  }

  private schema(tag: number, field: ProtoField, value: JsonValue): void {
    this.writer.varint(tag);
    const at = this.writer.begin();
    this.fields(field.plan as ProtoPlan, value as JsonObject);
    this.writer.end(at);
  }
}
