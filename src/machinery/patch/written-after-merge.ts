import type { ParsedDocument, WrittenMember, WrittenMembers } from '../json/exact-json-parser.ts';
import { getKey, isJsonArray, type JsonObject, type JsonValue } from '../json/json-value.ts';

/**
 * The notation of numbers from a merge patch in the resulting document. Upstream patches text, so that a `1.0` stays one when the document is
 * decoded. Of repeated keys in the patch the last counts.
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

/** The patch's and the document's value at a path. */
interface Pair {
  readonly patch: JsonValue | undefined;
  readonly document: JsonValue;
}

type Container = JsonObject | readonly JsonValue[];

/** Records the numbers of one object or list. Returns its children. */
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
