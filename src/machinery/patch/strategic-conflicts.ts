import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Schema } from '../schema.ts';
import { goValue } from '../values/go-format.ts';
import { elementKind } from './merge-list.ts';
import { DIRECTIVE, requiredIdentity } from './merged-list-order.ts';
import { listMetadata, objectMetadata, type PatchMetadata } from './patch-metadata.ts';
import { sameJson } from './same-json.ts';
import { RETAIN_KEYS } from './strategic-merge.ts';

/** Whether two strategic merge patches change the same thing in different ways. */
export function patchesConflict(left: JsonObject, right: JsonObject, schema: Schema): boolean {
  return directivesConflict(left, right) || membersConflict(left, right, schema);
}

// A directive works on the whole object, so it agrees only with the same directive.
function directivesConflict(left: JsonObject, right: JsonObject): boolean {
  return getKey(left, DIRECTIVE) !== getKey(right, DIRECTIVE);
}

function membersConflict(left: JsonObject, right: JsonObject, schema: Schema): boolean {
  return Object.keys(left).some((key) => {
    if (key === DIRECTIVE || key === RETAIN_KEYS) return false;
    const rightValue = getKey(right, key);
    return rightValue !== undefined && fieldsConflict(left[key] ?? null, rightValue, { key, schema });
  });
}

interface FieldPlace {
  readonly key: string;
  readonly schema: Schema;
}

function fieldsConflict(left: JsonValue, right: JsonValue, { key, schema }: FieldPlace): boolean {
  if (isJsonObject(left)) {
    if (!isJsonObject(right) || directivesConflict(left, right)) return true;
    const metadata = objectMetadata(schema, key);
    return metadata.strategy !== 'replace' && membersConflict(left, right, metadata.schema);
  }
  if (isJsonArray(left)) {
    // The order of a list is no field of the type; it is compared as a whole.
    if (key.startsWith('$')) return !sameJson(left, right);
    return !isJsonArray(right) || listsConflict(left, right, listMetadata(schema, key));
  }
  return !sameJson(left, right);
}

function listsConflict(left: readonly JsonValue[], right: readonly JsonValue[], metadata: PatchMetadata): boolean {
  if (left.length === 0 && right.length === 0) return false;
  const kind = elementKind(left, right);
  if (metadata.strategy === 'merge') return kind === 'map' && itemsConflict(left, right, metadata);
  if (left.length !== right.length) return true;
  return kind === 'map' ? !sameJson(left, right) : !sameScalars(left, right);
}

function itemsConflict(left: readonly JsonValue[], right: readonly JsonValue[], { mergeKey, schema }: PatchMetadata): boolean {
  const rightValue = new Map(right.map((item) => [goValue(requiredIdentity(item, mergeKey)), item]));
  return left.some((item) => {
    const other = rightValue.get(goValue(requiredIdentity(item, mergeKey)));
    return isJsonObject(item) && isJsonObject(other) && patchesConflict(item, other, schema);
  });
}

function sameScalars(left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  const [a, b] = [new Set(left), new Set(right)];
  return a.size === b.size && [...a].every((item) => b.has(item));
}
