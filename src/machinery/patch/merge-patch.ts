import { StatusError } from '../errors/status-error.ts';
import { copyMembers } from '../json/copy-members.ts';
import { copyObject, getKey, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { goJsonKind } from './json-kind.ts';
import { sameJson } from './same-json.ts';

/** The server's error for an invalid merge patch. */
export const INVALID_MERGE_PATCH = 'Invalid JSON Patch';

/**
 * Decodes a JSON value as a merge patch. Throws the server's StatusError for anything but an object; `lenient`, for clients with field validation
 * `Ignore`, only reports that the patch is invalid.
 */
export function decodeMergePatch(value: JsonValue, { lenient = false }: { readonly lenient?: boolean } = {}): JsonObject {
  if (isJsonObject(value)) return value;
  if (value === null || lenient) throw StatusError.badRequest(INVALID_MERGE_PATCH);
  throw StatusError.badRequest(
    `error decoding patch: json: cannot unmarshal ${goJsonKind(value)} into Go value of type map[string]interface {}`,
  );
}

/** Applies a merge patch (RFC 7386). Nothing given is changed; the result shares what the patch does not touch. */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  return merge(document, patch, 0);
}

function merge(document: JsonObject, patch: JsonObject, depth: number): JsonObject {
  if (depth > MAX_CALLS) return mergeCopy(document, patch);
  let result: MutableJsonObject | undefined;
  for (const key of Object.keys(patch)) {
    const before = getKey(document, key);
    const after = mergeMember(before, patch[key] ?? null, (x, y) => merge(x, y, depth + 1));
    if (after === before) continue;
    result ??= copyObject(document);
    if (after === undefined) delete result[key];
    else setKey(result, key, after);
  }
  return result ?? document;
}

/** Calls go this deep; a patch of 10,000 levels needs more than the stack has. */
const MAX_CALLS = 500;

/** The same with an explicit stack; copies what it visits. */
function mergeCopy(document: JsonObject, patch: JsonObject): JsonObject {
  const root = copyObject(document);
  const pending = [{ target: root, patch }];
  const copyLater = (before: JsonObject, below: JsonObject) => {
    const target = copyObject(before);
    pending.push({ target, patch: below });
    return target;
  };
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const key of Object.keys(next.patch)) {
      const after = mergeMember(getKey(next.target, key), next.patch[key] ?? null, copyLater);
      if (after === undefined) delete next.target[key];
      else setKey(next.target, key, after);
    }
  }
  return root;
}

type MergeObjects = (before: JsonObject, patch: JsonObject) => JsonObject;

function mergeMember(before: JsonValue | undefined, patch: JsonValue, mergeObjects: MergeObjects): JsonValue | undefined {
  if (patch === null) return undefined;
  if (!isJsonObject(before)) return withoutNulls(patch);
  return isJsonObject(patch) ? mergeObjects(before, patch) : patch;
}

/** A new value has nothing to delete: its null members are dropped, also in objects inside lists. A list keeps its own nulls. */
export function withoutNulls(value: JsonValue): JsonValue {
  return copyMembers(value, (member) => member !== null && member !== undefined);
}

/** The merge patch that turns one object into another. A null that only the second one has cannot be expressed, and is left out. */
export function createMergePatch(original: JsonObject, modified: JsonObject): JsonObject {
  const patch: MutableJsonObject = {};
  for (const key of Object.keys(modified)) {
    const [before, after] = [getKey(original, key), modified[key] ?? null];
    if (before !== undefined && sameJson(before, after)) continue;
    setKey(patch, key, isJsonObject(before) && isJsonObject(after) ? createMergePatch(before, after) : after);
  }
  for (const key of Object.keys(original)) {
    if (!Object.hasOwn(modified, key)) setKey(patch, key, null);
  }
  return patch;
}

export interface ThreeWay<T = JsonObject> {
  /** What was applied last. */
  readonly original: T;
  /** The part that applies now. */
  readonly modified: T;
  /** What the server has. */
  readonly current: T;
}

/**
 * The merge patch of a client-side apply: sets what `modified` has and `current` lacks, deletes what `original` had and `modified` lacks, and keeps
 * additions of others.
 */
export function createThreeWayMergePatch({ original, modified, current }: ThreeWay): JsonObject {
  const changes = onlyChanges(createMergePatch(current, modified));
  const deletions = onlyDeletions(createMergePatch(original, modified));
  return overlay(deletions, changes);
}

function onlyChanges(patch: JsonObject): JsonObject {
  const result: MutableJsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) continue;
    const isNested = isJsonObject(value) && Object.keys(value).length > 0;
    const filtered = isNested ? onlyChanges(value) : value;
    // An object that the filter emptied is dropped; one that was empty before is a value.
    if (!isNested || Object.keys(filtered as JsonObject).length > 0) setKey(result, key, filtered);
  }
  return result;
}

function onlyDeletions(patch: JsonObject): JsonObject {
  const result: MutableJsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) setKey(result, key, null);
    else if (isJsonObject(value)) {
      const nested = onlyDeletions(value);
      if (Object.keys(nested).length > 0) setKey(result, key, nested);
    }
  }
  return result;
}

function overlay(base: JsonObject, top: JsonObject): JsonObject {
  const result = copyObject(base);
  for (const [key, value] of Object.entries(top)) {
    const below = getKey(base, key);
    setKey(result, key, isJsonObject(below) && isJsonObject(value) ? overlay(below, value) : value);
  }
  return result;
}
