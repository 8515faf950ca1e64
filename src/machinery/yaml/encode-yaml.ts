import { encodeJson } from '../json/encode-json.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { goFloat } from '../values/go-format.ts';
import { compareYamlKeys } from './yaml-key-order.ts';
import { yamlString } from './yaml-string.ts';

/** A longer key does not stand before a colon on its line. */
const MAX_KEY_BYTES = 128;

/** The indentation may be this many times as long as the rest, and this long in any case. */
const MAX_GROWTH = 8;
const FREE_INDENTATION = 1 << 20;
/** Beyond this depth values are written on one line. */
const FLOW_INDENT = 16;

/**
 * Writes a value as YAML as the API does: keys sorted, lists not indented, long texts folded, strings quoted if ambiguous. Deep values, which would
 * be mostly indentation, are written as JSON.
 */
export function encodeYaml(value: unknown): string {
  return `${encodeYamlNode(value as JsonValue, 0)}\n`;
}

/** A value whose first line is already indented, without a final line break. */
export function encodeYamlNode(value: JsonValue, indent: number): string {
  return new BlockWriter(isMostlyIndentation(value) ? indent + FLOW_INDENT : Number.POSITIVE_INFINITY).node(value, indent);
}

function isMostlyIndentation(root: JsonValue): boolean {
  const stack: { readonly value: JsonValue; readonly depth: number }[] = [{ value: root, depth: 0 }];
  let members = 0;
  let total = 0;
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    members++;
    total += 2 * top.depth;
    if (typeof top.value !== 'object' || top.value === null) continue;
    for (const member of Object.values(top.value) as JsonValue[]) stack.push({ value: member, depth: top.depth + 1 });
  }
  return total > Math.max(FREE_INDENTATION, MAX_GROWTH * MEMBER_LENGTH * members);
}

/** The minimum size of a member with its key. */
const MEMBER_LENGTH = 4;

function hasMembers(object: JsonObject): boolean {
  return Object.values(object).some((member) => member !== undefined);
}

class BlockWriter {
  /** Values that would be indented by this much or more are written on one line. */
  readonly #maxIndent: number;

  constructor(maxIndent: number) {
    this.#maxIndent = maxIndent;
  }

  node(value: JsonValue, indent: number): string {
    if (indent >= this.#maxIndent) return flow(value);
    if (isJsonArray(value) && value.length > 0) return this.#sequence(value, indent);
    if (isJsonObject(value) && hasMembers(value)) return this.#mapping(value, indent);
    return scalar(value, { column: indent, indent: indent === 0 ? 2 : indent });
  }

  #sequence(items: readonly JsonValue[], indent: number): string {
    return items.map((item) => `- ${this.node(item, indent + 2)}`).join(newLine(indent));
  }

  #mapping(object: JsonObject, indent: number): string {
    const entries = Object.entries(object).filter(([, member]) => member !== undefined);
    return entries
      .sort(([a], [b]) => compareYamlKeys(a, b))
      .map(([key, member]) => this.#entry(key, member as JsonValue, indent))
      .join(newLine(indent));
  }

  #entry(key: string, member: JsonValue, indent: number): string {
    if (key.includes('\n') || Buffer.byteLength(key) > MAX_KEY_BYTES) {
      const written = yamlString(key, { column: indent + 2, indent: indent + 2, isKey: false });
      return `? ${written}${newLine(indent)}: ${this.node(member, indent + 2)}`;
    }
    const written = yamlString(key, { column: indent, indent, isKey: true });
    if (indent + 2 >= this.#maxIndent) return `${written}: ${flow(member)}`;
    if (isJsonArray(member) && member.length > 0) return `${written}:${newLine(indent)}${this.#sequence(member, indent)}`;
    if (isJsonObject(member) && hasMembers(member)) return `${written}:${newLine(indent + 2)}${this.#mapping(member, indent + 2)}`;
    return `${written}: ${scalar(member, { column: indent + written.length + 2, indent: indent + 2 })}`;
  }
}

/** JSON is valid YAML except for characters that YAML treats as line breaks or does not allow. */
function flow(value: JsonValue): string {
  return encodeJson(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function newLine(indent: number): string {
  return `\n${' '.repeat(indent)}`;
}

function scalar(value: JsonValue | bigint, place: { readonly column: number; readonly indent: number }): string {
  if (typeof value === 'string') return yamlString(value, { ...place, isKey: false });
  if (typeof value === 'number') return Number.isInteger(value) ? goFloat(value) : float(value);
  if (isJsonArray(value as JsonValue)) return '[]';
  return isJsonObject(value as JsonValue) ? '{}' : String(value);
}

/** Go writes an exponent from a million on. */
function float(value: number): string {
  const magnitude = Math.abs(value);
  return magnitude >= 1e6 ? value.toExponential().replace(/e\+(\d)$/, 'e+0$1') : goFloat(value);
}
