import type { WrittenMember, WrittenMembers } from '../json/exact-json-parser.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { type FieldPlan, Op, type Plan } from './decode-plan.ts';

/**
 * The value of a text with repeated keys, as Go decodes it: every occurrence is decoded into the result of the previous ones, so structs and maps are
 * merged, list items are decoded over those at the same index, and everything else is replaced.
 */
export function collapseRepeats(plan: Plan, value: JsonObject, written: WrittenMembers): JsonObject {
  return new Collapse(written).object(plan, value, undefined);
}

/** Objects under construction are owned here and grow in place, since a text may repeat a key any number of times. */
class Collapse {
  constructor(private readonly written: WrittenMembers) {}

  object(plan: Plan, source: JsonObject, before: JsonValue | undefined): JsonObject {
    const out = grown(before);
    for (const member of this.members(source)) {
      const field = plan.fields.get(member.key as string);
      if (field !== undefined) setKey(out, field.name, this.field(field, member, out[field.name]));
    }
    return out;
  }

  private field(field: FieldPlan, member: WrittenMember, before: JsonValue | undefined): JsonValue {
    if (member.value !== null) return this.value(field.plan, member, before);
    return clearedByNull(field) ? null : (before ?? null);
  }

  private value(plan: Plan, member: WrittenMember, before: JsonValue | undefined): JsonValue {
    const { value, text } = member;
    if (plan.op === Op.quantity) return text ?? value;
    if (plan.op === Op.object && isJsonObject(value)) return this.object(plan, value, before);
    if (plan.op === Op.list && isJsonArray(value)) return this.list(plan, value, before);
    if (plan.op === Op.map && isJsonObject(value)) return this.map(plan, value, before);
    if (plan.op >= Op.schemaOrArray && plan.op <= Op.schemaOrStringArray) return this.schemaOr(plan, value);
    return value;
  }

  private list(plan: Plan, items: readonly JsonValue[], before: JsonValue | undefined): JsonValue {
    const inner = plan.inner as Plan;
    const old = isJsonArray(before) ? before : [];
    return this.members(items).map((member, i) => (member.value === null ? (old[i] ?? null) : this.value(inner, member, old[i])));
  }

  /** Unlike fields, map values are decoded from scratch each time. */
  private map(plan: Plan, source: JsonObject, before: JsonValue | undefined): JsonValue {
    const out = grown(before);
    for (const member of this.members(source)) setKey(out, member.key as string, this.value(plan.inner as Plan, member, undefined));
    return out;
  }

  private schemaOr(plan: Plan, value: JsonValue): JsonValue {
    if (isJsonObject(value)) return this.object(plan.inner as Plan, value, undefined);
    return isJsonArray(value) && plan.op === Op.schemaOrArray ? this.list(plan, value, undefined) : value;
  }

  private members(source: JsonObject | readonly JsonValue[]): readonly WrittenMember[] {
    const written = this.written.get(source);
    if (written !== undefined) return written;
    if (isJsonArray(source)) return source.map((value, key) => ({ key, value, text: undefined }));
    return Object.keys(source).map((key) => ({ key, value: source[key] as JsonValue, text: undefined }));
  }
}

function grown(before: JsonValue | undefined): MutableJsonObject {
  return isJsonObject(before) ? (before as MutableJsonObject) : {};
}

/** Null clears what is nilable in Go; structs and plain scalars keep their value. */
function clearedByNull({ plan, isPointer }: FieldPlan): boolean {
  return isPointer || plan.op === Op.list || plan.op === Op.map || plan.op === Op.bytes || (plan.op !== Op.object && plan.zero === null);
}
