import type { ParsedDocument, WrittenMember, WrittenMembers } from '../exact-json-parser.ts';
import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json-value.ts';

/**
 * How the numbers that a merge patch brought are written, in the document that it made. Upstream patches text, so that a `1.0` is still one
 * when the document is read. Of keys that the patch repeats, the last has counted.
 */
export function writtenAfterMerge({ value, written }: ParsedDocument, document: JsonValue): WrittenMembers | undefined {
  if (written === undefined) return undefined;
  const result = new Map<object, readonly WrittenMember[]>();
  note(value, document, { written, result });
  return result.size === 0 ? undefined : result;
}

interface Notes {
  readonly written: WrittenMembers;
  readonly result: Map<object, readonly WrittenMember[]>;
}

function note(patch: JsonValue | undefined, document: JsonValue | undefined, notes: Notes): void {
  if (isJsonArray(patch) && isJsonArray(document)) noteMembers(patch, document, notes);
  else if (isJsonObject(patch) && isJsonObject(document)) noteMembers(patch, document, notes);
}

type Container = JsonObject | readonly JsonValue[];

function noteMembers(patch: Container, document: Container, notes: Notes): void {
  const texts = new Map(notes.written.get(patch)?.map(({ key, text }) => [key, text]));
  const members = membersOf(document).map(({ key, value }) => ({ key, value, text: texts.get(key) }));
  if (members.some(({ text }) => text !== undefined)) notes.result.set(document, members);
  for (const { key, value } of members) note(memberOf(patch, key), value, notes);
}

function membersOf(container: Container): readonly Omit<WrittenMember, 'text'>[] {
  if (isJsonArray(container)) return container.map((value, key) => ({ key, value }));
  return Object.entries(container).map(([key, value]) => ({ key, value }));
}

function memberOf(container: Container, key: string | number): JsonValue | undefined {
  return isJsonArray(container) ? container[key as number] : getKey(container, key as string);
}
