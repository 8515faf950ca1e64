import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { ObjectSchema } from '../schema.ts';
import { Op, type Plan, planOf } from './decode-plan.ts';
import { canonicalSeconds, isCanonicalMicro, ZERO_TIME_SECONDS } from './time-text.ts';

/**
 * Whether `decodeObject` would report nothing and fill in nothing: a check of objects that this program wrote itself, cheaper than decoding. False if
 * only decoding can decide.
 */
export function conforms(schema: ObjectSchema, value: JsonValue): boolean {
  return fits(planOf(schema), value);
}

function fits(plan: Plan, value: JsonValue): boolean {
  switch (plan.op) {
    case Op.string:
      return typeof value === 'string';
    case Op.bytes:
      return typeof value === 'string' && value.length % 4 === 0 && BASE64.test(value);
    case Op.bool:
      return typeof value === 'boolean';
    case Op.int32:
      return typeof value === 'number' && (value | 0) === value;
    case Op.int64:
      return Number.isSafeInteger(value);
    case Op.double:
      return typeof value === 'number';
    case Op.object:
      return fitsObject(plan, value);
    case Op.list:
      return Array.isArray(value) && fitsItems(plan.inner as Plan, value);
    case Op.map:
      return isJsonObject(value) && fitsMembers(plan.inner as Plan, value);
    case Op.any:
      return true;
    default:
      return fitsText(plan, value);
  }
}

function fitsText({ op }: Plan, value: JsonValue): boolean {
  if (typeof value !== 'string') return op === Op.intOrString && typeof value === 'number' && (value | 0) === value;
  switch (op) {
    case Op.quantity:
      return PLAIN_QUANTITY.test(value);
    case Op.time: {
      const seconds = canonicalSeconds(value);
      return !Number.isNaN(seconds) && seconds !== ZERO_TIME_SECONDS;
    }
    case Op.microTime:
      return isCanonicalMicro(value);
    default:
      return op === Op.intOrString;
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The commonest form; others are left to the decoder. */
const PLAIN_QUANTITY = /^\d{1,15}(?:m|k|[MGT]|[KMGT]i)?$/;

function fitsObject(plan: Plan, value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  let presentCount = 0;
  for (const key in value) {
    const field = plan.fields.get(key);
    const member = value[key] as JsonValue;
    if (field === undefined) {
      if (plan.preserveUnknown) continue;
      return false;
    }
    if (field.keepsZero) presentCount++;
    if (member === null ? field.absent !== null : !fits(field.plan, member)) return false;
  }
  return presentCount === plan.alwaysPresent.length;
}

function fitsItems(plan: Plan, items: readonly JsonValue[]): boolean {
  for (const item of items) if (!fits(plan, item)) return false;
  return true;
}

function fitsMembers(plan: Plan, members: JsonObject): boolean {
  for (const key in members) if (!fits(plan, members[key] as JsonValue)) return false;
  return true;
}
