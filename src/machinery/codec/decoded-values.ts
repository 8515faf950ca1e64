import { type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { type FieldPlan, Op, type Plan, planOf } from './decode-plan.ts';

/** In Go a number with a fraction or an exponent is never an integer; in our decoder NaN is not either. */
export function asInteger(plan: Plan, value: JsonValue, text: string | undefined): JsonValue {
  const isInteger = plan.op === Op.int32 || plan.op === Op.int64 || plan.op === Op.intOrString;
  return isInteger && text !== undefined ? Number.NaN : value;
}

export const STRING_LIST = planOf({ type: 'list', items: { type: 'string' }, listType: 'atomic', keys: [] });

export function isZero(plan: Plan, value: JsonValue): boolean {
  switch (plan.op) {
    case Op.list:
      return (value as readonly JsonValue[]).length === 0;
    case Op.map:
      return isEmpty(value as JsonObject);
    default:
      return value === 0 || value === false || value === '';
  }
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** The members that are set and that the type has. Copied, since deleting keys would turn the object into a slow dictionary. */
export function membersOfPlan({ fields, preserveUnknown }: Plan, source: JsonObject): MutableJsonObject {
  const out: MutableJsonObject = {};
  for (const key in source) {
    const value = source[key];
    if (value !== undefined && (preserveUnknown || fields.has(key))) setKey(out, key, value);
  }
  return out;
}

export function fillIn(fields: readonly FieldPlan[], out: MutableJsonObject): MutableJsonObject {
  for (const field of fields) if (out[field.name] === undefined) out[field.name] = field.absent as JsonValue;
  return out;
}
