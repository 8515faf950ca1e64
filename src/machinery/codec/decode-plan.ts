import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { AnySchema, EmbeddedMessage, Field, ObjectSchema, Schema } from '../schema.ts';
import { goTypeName, shortTypeName } from './go-type-name.ts';

/** How to decode a value. Numbers, since it is read for every value of every request. */
export const Op = {
  string: 0,
  bool: 1,
  int32: 2,
  int64: 3,
  double: 4,
  bytes: 5,
  quantity: 6,
  time: 7,
  microTime: 8,
  duration: 9,
  intOrString: 10,
  any: 11,
  schemaOrArray: 12,
  schemaOrBool: 13,
  schemaOrStringArray: 14,
  object: 15,
  list: 16,
  map: 17,
} as const;
export type Op = (typeof Op)[keyof typeof Op];

/**
 * A schema prepared for the decoder: names resolved to numbers, zero values precomputed. Every plan has the same members in the same order, so that
 * the walk stays monomorphic.
 */
export interface Plan {
  readonly op: Op;
  readonly typeName: string;
  /** The meaning of null in a list or map: the type's zero value. */
  readonly zero: JsonValue;
  /** Of objects. */
  readonly structName: string;
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** The fields that are encoded even if they are not set. */
  readonly alwaysPresent: readonly FieldPlan[];
  readonly preserveUnknown: boolean;
  /** Of lists and maps: their items or values; of the `schemaOr…` forms: the schema. */
  readonly inner: Plan | undefined;
}

export interface FieldPlan {
  readonly name: string;
  readonly plan: Plan;
  readonly dropsZero: boolean;
  readonly isPointer: boolean;
  readonly keepsZero: boolean;
  /** The value of null and absence; undefined: the field is omitted. */
  readonly absent: JsonValue | undefined;
  /** The field in errors, after the names of the embedded types it came with: `VolumeSource.hostPath`. */
  readonly errorName: string;
}

type MutablePlan = { -readonly [K in keyof Plan]: Plan[K] };

const NO_FIELDS: ReadonlyMap<string, FieldPlan> = new Map();

// Plans are derived from immutable schemas and live as long as they do.
const plans = new WeakMap<Schema, Plan>();

export function planOf(schema: Schema): Plan {
  return plans.get(schema) ?? build(schema);
}

function build(schema: Schema): Plan {
  const plan: MutablePlan = {
    op: opOf(schema),
    typeName: goTypeName(schema),
    zero: null,
    structName: schema.type === 'object' ? shortTypeName(schema.name) : '',
    fields: NO_FIELDS,
    alwaysPresent: [],
    preserveUnknown: schema.type === 'object' && schema.preserveUnknown,
    inner: undefined,
  };
  plans.set(schema, plan); // before the parts: a schema may contain itself
  complete(plan, schema);
  return plan;
}

function complete(plan: MutablePlan, schema: Schema): void {
  if (schema.type === 'object') completeObject(plan, schema);
  else if (schema.type === 'list') plan.inner = planOf(schema.items);
  else if (schema.type === 'map') plan.inner = planOf(schema.values);
  else if (schema.type === 'any') plan.inner = schema.inner && planOf(schema.inner);
  else plan.zero = SCALAR_ZEROS[schema.type];
}

function completeObject(plan: MutablePlan, schema: ObjectSchema): void {
  const fields = schema.fields.map(fieldPlan);
  plan.fields = new Map(fields.map((field) => [field.name, field]));
  plan.alwaysPresent = fields.filter((field) => field.keepsZero);
  plan.zero = Object.freeze(Object.fromEntries(plan.alwaysPresent.map((field) => [field.name, field.absent as JsonValue]))) as JsonObject;
}

function fieldPlan(field: Field): FieldPlan {
  const plan = planOf(field.schema);
  const isKept = field.presence === 'always' || field.presence === 'nullable';
  return {
    name: field.name,
    plan,
    dropsZero: field.presence === 'nonzero',
    isPointer: field.presence === 'set',
    keepsZero: isKept,
    absent: absentValue(field, plan),
    errorName: embeddedPrefix(field.embeddedIn) + field.name,
  };
}

/** Unset bytes are null; inside lists and maps they are empty. */
function absentValue({ presence }: Field, { op, zero }: Plan): JsonValue | undefined {
  if (presence === 'always') return op === Op.bytes ? null : zero;
  return presence === 'nullable' ? null : undefined;
}

function embeddedPrefix(embedding: EmbeddedMessage | undefined): string {
  return embedding ? `${embedding.name}.${embeddedPrefix(embedding.inner)}` : '';
}

function opOf(schema: Schema): Op {
  return schema.type === 'any' ? opOfAny(schema) : Op[schema.type];
}

function opOfAny({ proto, inner }: AnySchema): Op {
  return inner && proto !== 'raw' ? Op[proto] : Op.any;
}

const SCALAR_ZEROS = {
  string: '',
  int32: 0,
  int64: 0,
  double: 0,
  bool: false,
  bytes: '',
  quantity: '0',
  time: null,
  microTime: null,
  duration: '0s',
  intOrString: 0,
} as const;
