import type { ParsedDocument, WrittenMember, WrittenMembers } from '../json/exact-json-parser.ts';
import { getKey, isJsonArray, type JsonObject, type JsonValue } from '../json/json-value.ts';

/**
 * How the numbers that a merge patch brought are written, in the document that it made. Upstream patches text, so that a `1.0` is still one
 * when the document is read. Of keys that the patch repeats, the last has counted.
 */
export function writtenAfterMerge({ value, written }: ParsedDocument, document: JsonValue): WrittenMembers | undefined {
  if (written === undefined) return undefined;
  const result = new Map<object, readonly WrittenMember[]>();
  const pending: Pair[] = [{ patch: value, document }];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    for (const below of note(pair, written, result)) pending.push(below);
  }
  return result.size === 0 ? undefined : result;
}

/** What the patch has in a place, and what the document has there now. */
interface Pair {
  readonly patch: JsonValue | undefined;
  readonly document: JsonValue;
}

type Container = JsonObject | readonly JsonValue[];

/** Notes the numbers of one object or list. Returns what is below it. */
function note({ patch, document }: Pair, written: WrittenMembers, result: Map<object, readonly WrittenMember[]>): readonly Pair[] {
  if (!isContainer(patch) || !isContainer(document) || isJsonArray(patch) !== isJsonArray(document)) return [];
  const texts = new Map(written.get(patch)?.map(({ key, text }) => [key, text]));
  const members = membersOf(document).map(({ key, value }) => ({ key, value, text: texts.get(key) }));
  if (members.some(({ text }) => text !== undefined)) result.set(document, members);
  return members.filter(({ value }) => isContainer(value)).map(({ key, value }) => ({ patch: memberOf(patch, key), document: value }));
}

function isContainer(value: JsonValue | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function membersOf(container: Container): readonly Omit<WrittenMember, 'text'>[] {
  if (isJsonArray(container)) return container.map((value, key) => ({ key, value }));
  return Object.entries(container).map(([key, value]) => ({ key, value }));
}

function memberOf(container: Container, key: string | number): JsonValue | undefined {
  return isJsonArray(container) ? container[key as number] : getKey(container, key as string);
}
