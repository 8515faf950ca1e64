import { goFloat } from './go-format.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import { compareYamlKeys } from './yaml-key-order.ts';
import { yamlString } from './yaml-string.ts';

/** A longer key does not stand before a colon on its line. */
const MAX_KEY_BYTES = 128;

/** Writes a value as YAML the way the API does: keys sorted, lists not indented, long texts folded, strings quoted where another type could be read. */
export function encodeYaml(value: unknown): string {
  return `${node(value as JsonValue, 0)}\n`;
}

/** A value whose first line stands at `indent` already. */
function node(value: JsonValue, indent: number): string {
  if (isJsonArray(value) && value.length > 0) return sequence(value, indent);
  if (isJsonObject(value) && hasMembers(value)) return mapping(value, indent);
  return scalar(value, { column: indent, indent: indent === 0 ? 2 : indent });
}

function hasMembers(object: JsonObject): boolean {
  return Object.values(object).some((member) => member !== undefined);
}

function sequence(items: readonly JsonValue[], indent: number): string {
  return items.map((item) => `- ${node(item, indent + 2)}`).join(newLine(indent));
}

function mapping(object: JsonObject, indent: number): string {
  const entries = Object.entries(object).filter(([, member]) => member !== undefined);
  return entries
    .sort(([a], [b]) => compareYamlKeys(a, b))
    .map(([key, member]) => entry(key, member as JsonValue, indent))
    .join(newLine(indent));
}

function entry(key: string, member: JsonValue, indent: number): string {
  if (key.includes('\n') || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    const written = yamlString(key, { column: indent + 2, indent: indent + 2, isKey: false });
    return `? ${written}${newLine(indent)}: ${node(member, indent + 2)}`;
  }
  const written = yamlString(key, { column: indent, indent, isKey: true });
  if (isJsonArray(member) && member.length > 0) return `${written}:${newLine(indent)}${sequence(member, indent)}`;
  if (isJsonObject(member) && hasMembers(member)) return `${written}:${newLine(indent + 2)}${mapping(member, indent + 2)}`;
  return `${written}: ${scalar(member, { column: indent + written.length + 2, indent: indent + 2 })}`;
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
