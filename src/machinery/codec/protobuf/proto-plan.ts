import type { JsonValue } from '../../json/json-value.ts';
import type { AnySchema, EmbeddedMessage, Field, ObjectSchema, ScalarType, Schema } from '../../schema.ts';
import { planOf } from '../decode-plan.ts';
import { shortTypeName } from '../go-type-name.ts';
import { tagOf, WireType } from './wire.ts';

/** How a value is carried. The first five are plain on the wire; the rest are messages. */
export const ProtoOp = {
  string: 0,
  bool: 1,
  int32: 2,
  int64: 3,
  double: 4,
  bytes: 5,
  message: 6,
  quantity: 7,
  time: 8,
  microTime: 9,
  intOrString: 10,
  raw: 11,
  map: 12,
  wrappedList: 13,
  embedded: 14,
  schemaOrArray: 15,
  schemaOrBool: 16,
  schemaOrStringArray: 17,
  duration: 18,
} as const;
export type ProtoOp = (typeof ProtoOp)[keyof typeof ProtoOp];

/** A message, ready to be written by field name and read by field number. */
export interface ProtoPlan {
  readonly name: string;
  readonly byNumber: readonly (ProtoField | undefined)[];
  readonly byName: ReadonlyMap<string, ProtoField>;
  /** The messages that are embedded here: their fields belong to the same object. */
  readonly embedded: readonly ProtoField[];
  /** Fields that are present in the object even if the message lacks them. */
  readonly alwaysPresent: readonly DefaultedField[];
  readonly zero: JsonValue;
}

export interface DefaultedField {
  readonly name: string;
  readonly absent: JsonValue;
}

export interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly op: ProtoOp;
  readonly tag: number;
  readonly isRepeated: boolean;
  /** An absent value and the type's zero are the same thing. */
  readonly dropsZero: boolean;
  /** Of messages, embedded ones and the `schemaOr…` forms. */
  readonly plan: ProtoPlan | undefined;
  /** Of maps and wrapped lists: their values. */
  readonly inner: ProtoField | undefined;
  /** The embedded message that carries the field. */
  readonly embeddedIn: ProtoField | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

// Derived from immutable schemas, and living as long as they do.
const plans = new WeakMap<ObjectSchema, ProtoPlan>();

export function protoPlanOf(schema: ObjectSchema): ProtoPlan {
  return plans.get(schema) ?? build(schema);
}

function build(schema: ObjectSchema): ProtoPlan {
  const plan = emptyPlan(shortTypeName(schema.name)) as Mutable<ProtoPlan>;
  plans.set(schema, plan); // before the fields: a message may contain itself
  const builder = new PlanBuilder(plan.name);
  for (const field of schema.fields) if (field.number > 0) builder.add(field);
  Object.assign(plan, builder.finish());
  const { zero, alwaysPresent } = planOf(schema);
  plan.zero = zero;
  plan.alwaysPresent = alwaysPresent.map(({ name, absent }) => ({ name, absent: absent ?? null }));
  return plan;
}

function emptyPlan(name: string): ProtoPlan {
  return { name, byNumber: [], byName: new Map(), embedded: [], alwaysPresent: [], zero: null };
}

class PlanBuilder {
  private readonly name: string;
  private readonly byNumber: (ProtoField | undefined)[] = [];
  private readonly byName = new Map<string, ProtoField>();
  private readonly nested = new Map<number, PlanBuilder>();

  constructor(name: string) {
    this.name = name;
  }

  add(field: Field): void {
    let target: PlanBuilder = this;
    for (let embedding = field.embeddedIn; embedding !== undefined; embedding = embedding.inner) target = target.builderOf(embedding);
    target.own(fieldOf(field));
  }

  private own(field: ProtoField): void {
    this.byNumber[field.number] = field;
    this.byName.set(field.name, field);
  }

  private builderOf({ number, name }: EmbeddedMessage): PlanBuilder {
    const builder = this.nested.get(number) ?? new PlanBuilder(name);
    this.nested.set(number, builder);
    return builder;
  }

  finish(): Pick<ProtoPlan, 'byNumber' | 'byName' | 'embedded'> {
    const embedded = [...this.nested].map(([number, builder]) => this.finishEmbedded(number, builder));
    return { byNumber: Array.from(this.byNumber), byName: this.byName, embedded };
  }

  private finishEmbedded(number: number, builder: PlanBuilder): ProtoField {
    const plan: ProtoPlan = { ...emptyPlan(builder.name), ...builder.finish() };
    const carrier = { ...messageField(number, ProtoOp.embedded), plan };
    this.byNumber[number] = carrier;
    for (const [name, field] of plan.byName) this.byName.set(name, { ...field, embeddedIn: carrier });
    return carrier;
  }
}

function fieldOf(field: Field): ProtoField {
  const isList = field.schema.type === 'list' && !field.schema.wrapped;
  const carrier = valueField(field.schema.type === 'list' && isList ? field.schema.items : field.schema, field.number);
  return { ...carrier, name: field.name, isRepeated: isList, dropsZero: field.presence === 'nonzero' && !isList };
}

function valueField(schema: Schema, number: number): ProtoField {
  switch (schema.type) {
    case 'object':
      return { ...messageField(number, ProtoOp.message), plan: protoPlanOf(schema) };
    case 'map':
      return { ...messageField(number, ProtoOp.map), inner: valueField(schema.values, 2) };
    case 'list':
      return { ...messageField(number, ProtoOp.wrappedList), inner: valueField(schema.items, 1) };
    case 'any':
      return anyField(schema, number);
    default:
      return { ...messageField(number, ProtoOp[schema.type]), tag: tagOf(number, wireTypeOf(schema.type)) };
  }
}

function anyField({ proto, inner }: AnySchema, number: number): ProtoField {
  return { ...messageField(number, ProtoOp[proto]), plan: inner && protoPlanOf(inner) };
}

function messageField(number: number, op: ProtoOp): ProtoField {
  const tag = tagOf(number, WireType.bytes);
  return { name: '', number, op, tag, isRepeated: false, dropsZero: false, plan: undefined, inner: undefined, embeddedIn: undefined };
}

function wireTypeOf(type: ScalarType): WireType {
  if (type === 'bool' || type === 'int32' || type === 'int64') return WireType.varint;
  return type === 'double' ? WireType.fixed64 : WireType.bytes;
}
