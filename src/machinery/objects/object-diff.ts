import { Path } from '../errors/field-path.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { goJsonEscape } from '../values/go-format.ts';
import { deepEqual } from './semantic-equal.ts';
import { unifiedDiff } from './unified-diff.ts';

/** One place where two values differ; a side that has nothing there is undefined. */
export interface Difference {
  readonly path: Path;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** The smallest places where two values differ, in the order of the document. Lists are compared by position. */
export function diffValues(before: JsonValue | undefined, after: JsonValue | undefined, path: Path = Path.none): Difference[] {
  if (deepEqual(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return diffMembers(before, after, path);
  if (isJsonArray(before) && isJsonArray(after)) return diffItems(before, after, path);
  return [{ path, before, after }];
}

function diffMembers(before: JsonObject, after: JsonObject, path: Path): Difference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const left = Object.hasOwn(before, key) ? before[key] : undefined;
    const right = Object.hasOwn(after, key) ? after[key] : undefined;
    return diffValues(left, right, path.child(key));
  });
}

function diffItems(before: readonly JsonValue[], after: readonly JsonValue[], path: Path): Difference[] {
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, i) => diffValues(before[i], after[i], path.index(i))).flat();
}

/** The difference of two values as a unified diff of their indented JSON: what the API's messages about updates show. */
export function diffText(before: unknown, after: unknown): string {
  return unifiedDiff(indentedLines(before), indentedLines(after), 3);
}

function indentedLines(value: unknown): string[] {
  const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member), 1);
  return goJsonEscape(text)
    .split('\n')
    .map((line) => `${line}\n`);
}
