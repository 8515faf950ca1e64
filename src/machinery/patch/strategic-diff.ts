import { getKey, isJsonArray, isJsonObject, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import type { Schema } from '../schema.ts';
import { compareBytes, goValue } from '../values/go-format.ts';
import { elementKind } from './merge-list.ts';
import type { ThreeWay } from './merge-patch.ts';
import { asObject, DIRECTIVE, positions, requiredIdentity, sortedBy } from './merged-list-order.ts';
import { listMetadata, objectMetadata, type PatchMetadata } from './patch-metadata.ts';
import { sameJson } from './same-json.ts';
import { patchesConflict } from './strategic-conflicts.ts';
import { goType, StrategicPatchError } from './strategic-error.ts';
import { combineStrategicMergePatches, DELETE_PREFIX, ORDER_PREFIX, RETAIN_KEYS } from './strategic-merge.ts';

interface DiffOptions {
  /** Say in which order merged lists are to be. */
  readonly order: boolean;
  readonly changes: boolean;
  readonly deletions: boolean;
}

/** The strategic merge patch that turns one object into another. Throws StrategicPatchError. */
export function createStrategicMergePatch(original: JsonObject, modified: JsonObject, schema: Schema): JsonObject {
  return new Differ({ order: true, changes: true, deletions: true }).diffObjects({ original, modified, schema, retainKeys: false });
}

export interface ThreeWayOptions {
  /** Override others' changes of the same fields; otherwise they are a conflict. */
  readonly overwrite: boolean;
}

/** The current object was changed by others where the patch would change it. */
export class PatchConflictError extends Error {
  override readonly name = 'PatchConflictError';
}

/**
 * The patch of a client-side apply: sets what `modified` has and `current` lacks, deletes what `original` had and `modified` lacks, and keeps
 * additions of others. Throws StrategicPatchError, and PatchConflictError without `overwrite`.
 */
export function createThreeWayStrategicPatch(objects: ThreeWay, schema: Schema, { overwrite }: ThreeWayOptions): JsonObject {
  const { original, modified, current } = objects;
  const changes = new Differ({ order: true, changes: true, deletions: false });
  const deletions = new Differ({ order: true, changes: false, deletions: true });
  const delta = changes.diffObjects({ original: current, modified, schema, retainKeys: false });
  const deleted = deletions.diffObjects({ original, modified, schema, retainKeys: false });
  const patch = combineStrategicMergePatches(deleted, delta, schema);
  if (!overwrite) throwOnConflicts(patch, objects, schema);
  return patch;
}

function throwOnConflicts(patch: JsonObject, { original, current }: ThreeWay, schema: Schema): void {
  const both = new Differ({ order: false, changes: true, deletions: true });
  const changed = both.diffObjects({ original, modified: current, schema, retainKeys: false });
  if (!patchesConflict(patch, changed, schema)) return;
  const texts = `patch:\n${goValue(patch)}\nconflicts with changes made from original to current:\n${goValue(changed)}\n`;
  throw new PatchConflictError(texts);
}

interface ObjectDiff {
  readonly original: JsonObject;
  readonly modified: JsonObject;
  readonly schema: Schema;
  readonly retainKeys: boolean;
}

interface ListDiff {
  readonly original: readonly JsonValue[];
  readonly modified: readonly JsonValue[];
  readonly metadata: PatchMetadata;
}

interface ListPatch {
  readonly items: readonly JsonValue[];
  /** Scalars to delete. */
  readonly deletions: readonly JsonValue[];
  readonly order: readonly JsonValue[];
}

const NOTHING: ListPatch = { items: [], deletions: [], order: [] };

class Differ {
  constructor(private readonly options: DiffOptions) {}

  diffObjects({ original, modified, schema, retainKeys }: ObjectDiff): MutableJsonObject {
    const patch: MutableJsonObject = {};
    for (const key of Object.keys(modified)) {
      const [before, after] = [getKey(original, key), modified[key] ?? null];
      if (before === undefined) this.setChange(patch, key, after);
      else this.diffMember(patch, { key, before, after, schema });
    }
    const removed = Object.keys(original).filter((key) => !Object.hasOwn(modified, key));
    if (this.options.deletions) for (const key of removed) setKey(patch, key, null);
    if (retainKeys)
      addRetainKeys(
        patch,
        modified,
        removed.some((key) => original[key] !== null),
      );
    return patch;
  }

  private setChange(patch: MutableJsonObject, key: string, value: JsonValue): void {
    if (this.options.changes) setKey(patch, key, value);
  }

  private diffMember(patch: MutableJsonObject, { key, before, after, schema }: MemberDiff): void {
    if (key === DIRECTIVE) {
      diffDirective(patch, before, after);
    } else if (goType(before) !== goType(after)) {
      this.setChange(patch, key, after);
    } else if (isJsonObject(before) && isJsonObject(after)) {
      this.diffObjectField(patch, { key, before, after, schema });
    } else if (isJsonArray(before) && isJsonArray(after)) {
      this.diffListField(patch, { key, before, after, schema });
    } else if (!sameJson(before, after)) this.setChange(patch, key, after);
  }

  private diffObjectField(patch: MutableJsonObject, { key, before, after, schema }: MemberDiff<JsonObject>): void {
    // A field without metadata is an error only if it differs.
    if (sameJson(before, after)) return;
    const metadata = objectMetadata(schema, key);
    if (metadata.strategy === 'replace') {
      this.setChange(patch, key, after);
      return;
    }
    const nested = this.diffObjects({ original: before, modified: after, schema: metadata.schema, retainKeys: metadata.retainKeys });
    if (Object.keys(nested).length > 0) setKey(patch, key, nested);
  }

  private diffListField(patch: MutableJsonObject, { key, before, after, schema }: MemberDiff<readonly JsonValue[]>): void {
    if (sameJson(before, after)) return;
    const metadata = listMetadata(schema, key);
    if (metadata.strategy !== 'merge') {
      this.setChange(patch, key, after);
      return;
    }
    const { items, deletions, order } = this.diffLists({ original: before, modified: after, metadata });
    if (items.length > 0) setKey(patch, key, items);
    if (deletions.length > 0) setKey(patch, `${DELETE_PREFIX}/${key}`, deletions);
    if (order.length > 0) setKey(patch, `${ORDER_PREFIX}/${key}`, order);
  }

  private diffLists(lists: ListDiff): ListPatch {
    const { original, modified } = lists;
    if (original.length === 0) return this.options.changes ? { ...NOTHING, items: modified } : NOTHING;
    return elementKind(original, modified) === 'map' ? this.diffObjectLists(lists) : this.diffScalarLists(lists);
  }

  private diffScalarLists({ original, modified }: ListDiff): ListPatch {
    const [before, after] = [new Set(original), new Set(modified)];
    const added = this.options.changes ? [...after].filter((item) => !before.has(item)) : [];
    const deletions = this.options.deletions ? [...before].filter((item) => !after.has(item)).sort(compareAsText) : [];
    const orders = this.options.order && (deletions.length > 0 || (this.options.changes && !sameJson(original, modified)));
    return { items: added, deletions, order: orders ? modified : [] };
  }

  private diffObjectLists(lists: ListDiff): ListPatch {
    const { original, modified, metadata } = lists;
    const { mergeKey } = metadata;
    const { changed, deleted } = this.diffItems(lists);
    const items = [...sortedBy(changed, positions(modified, mergeKey), mergeKey), ...deleted];
    const orderSame = sameOrder(original, modified, mergeKey);
    const orders = this.options.order && (items.length > 0 || (this.options.changes && !orderSame));
    const order = orders ? modified.map((item) => ({ [mergeKey]: requiredIdentity(item, mergeKey) })) : [];
    return { items, deletions: [], order };
  }

  /** Pairs items by their merge key, the first of one list with the first of the other where keys are repeated. */
  private diffItems({ original, modified, metadata }: ListDiff): { changed: JsonValue[]; deleted: JsonValue[] } {
    const { mergeKey, schema, retainKeys } = metadata;
    const unmatched = new Map<string, JsonObject[]>();
    for (const item of original.map(asObject)) {
      const identity = goValue(requiredIdentity(item, mergeKey));
      unmatched.set(identity, [...(unmatched.get(identity) ?? []), item]);
    }
    const changed: JsonValue[] = [];
    for (const item of modified.map(asObject)) {
      const identity = requiredIdentity(item, mergeKey);
      const before = unmatched.get(goValue(identity))?.shift();
      if (before === undefined) {
        if (this.options.changes) changed.push(item);
        continue;
      }
      const patch = this.diffObjects({ original: before, modified: item, schema, retainKeys });
      if (Object.keys(patch).length > 0) changed.push({ ...patch, [mergeKey]: identity });
    }
    return { changed, deleted: this.options.deletions ? deletionsOf(unmatched, mergeKey) : [] };
  }
}

interface MemberDiff<T = JsonValue> {
  readonly key: string;
  readonly before: T;
  readonly after: T;
  readonly schema: Schema;
}

function addRetainKeys(patch: MutableJsonObject, modified: JsonObject, clearsSome: boolean): void {
  const keys = Object.keys(modified).filter((key) => modified[key] !== null);
  if (keys.length > 0 && (clearsSome || Object.keys(patch).length > 0)) setKey(patch, RETAIN_KEYS, keys.sort(compareBytes));
}

function diffDirective(patch: MutableJsonObject, before: JsonValue, after: JsonValue): void {
  if (typeof before !== 'string' || typeof after !== 'string') {
    throw new StrategicPatchError(`invalid value for special key: ${DIRECTIVE}`);
  }
  if (before !== after) patch[DIRECTIVE] = after;
}

function deletionsOf(unmatched: ReadonlyMap<string, readonly JsonObject[]>, mergeKey: string): JsonObject[] {
  const identities = [...unmatched].toSorted(([a], [b]) => compareBytes(a, b));
  return identities.flatMap(([, items]) => items.map((item) => ({ [DIRECTIVE]: 'delete', [mergeKey]: item[mergeKey] ?? null })));
}

function sameOrder(original: readonly JsonValue[], modified: readonly JsonValue[], mergeKey: string): boolean {
  if (original.length !== modified.length) return false;
  return modified.every((item, i) => requiredIdentity(original[i] ?? null, mergeKey) === requiredIdentity(item, mergeKey));
}

function compareAsText(a: JsonValue, b: JsonValue): number {
  return compareBytes(goValue(a), goValue(b));
}
