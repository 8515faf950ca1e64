import type { WrittenMember, WrittenMembers } from '../json/exact-json-parser.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { type FieldPlan, Op, type Plan } from './decode-plan.ts';

/**
 * The value that a text with repeated keys stands for, each key now there once. Go decodes every occurrence into what the ones before it
 * left: structs and maps gain members, items of a list are decoded over those in their place, and everything else is replaced.
 */
export function collapseRepeats(plan: Plan, value: JsonObject, written: WrittenMembers): JsonObject {
  return new Collapse(written).object(plan, value, undefined);
}

/** Objects and maps under construction are its own, and grow in place: a text may repeat a key as often as it has room for. */
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

  /** Unlike fields, the values of a map begin anew each time. */
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

/** Null empties what can be empty in Go; a struct or a scalar that is no pointer keeps what it has. */
function clearedByNull({ plan, isPointer }: FieldPlan): boolean {
  return isPointer || plan.op === Op.list || plan.op === Op.map || plan.op === Op.bytes || (plan.op !== Op.object && plan.zero === null);
}
