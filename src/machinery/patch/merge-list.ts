import { getKey, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { Schema } from '../schema.ts';
import { goValue } from '../values/go-format.ts';
import { asObject, DIRECTIVE, orderMergedList, positions, requiredIdentity } from './merged-list-order.ts';
import { badDirective, goType, noMergeKey, StrategicPatchError } from './strategic-error.ts';

export interface ListMerge {
  readonly original: readonly JsonValue[];
  readonly patch: readonly JsonValue[];
  readonly items: Schema;
  readonly mergeKey: string;
  /** The patch names scalars to delete; only when patches are applied, not when they are combined. */
  readonly deletes: boolean;
  /** How two items of one identity are merged. */
  readonly mergeItems: (original: JsonObject, patch: JsonObject, schema: Schema) => JsonObject;
}

/** Merges a list whose strategy is `merge`. */
export function mergeList(merge: ListMerge): readonly JsonValue[] {
  const { original, patch, mergeKey } = merge;
  if (original.length === 0 && patch.length === 0) return original;
  if (elementKind(original, patch) !== 'map') return mergeScalars(merge);
  if (mergeKey === '') throw new StrategicPatchError('cannot merge lists without merge key for struct');
  const { remaining, additions } = applyItemDirectives(original, patch, mergeKey);
  const merged = mergeObjects(remaining, additions, merge);
  return orderMergedList(merged, { patchOrder: additions, liveOrder: remaining, mergeKey });
}

function mergeScalars({ original, patch, mergeKey, deletes }: ListMerge): readonly JsonValue[] {
  if (deletes) {
    const doomed = new Set(patch);
    return original.filter((item) => !doomed.has(item));
  }
  const merged = [...new Set([...original, ...patch])];
  return orderMergedList(merged, { patchOrder: patch, liveOrder: original, mergeKey });
}

/** Lists are of one kind of element, and never of lists. */
export function elementKind(...lists: readonly (readonly JsonValue[])[]): 'map' | 'scalar' {
  const types = new Set(lists.flatMap((list) => list.map(goType)));
  const [first] = types;
  if (first === undefined) throw new StrategicPatchError('no elements in any of the given slices');
  if (first === goType([])) throw new StrategicPatchError('lists of lists are not supported', 'unprocessable');
  if (types.size > 1) {
    throw new StrategicPatchError(`list element types are not identical: ${goValue(lists)}`);
  }
  return first === goType({}) ? 'map' : 'scalar';
}

interface PatchDirectives {
  readonly remaining: readonly JsonValue[];
  readonly additions: readonly JsonValue[];
}

/** Items with `$patch` are directives: delete an item, or replace the whole list by the patch's other items. */
function applyItemDirectives(original: readonly JsonValue[], patch: readonly JsonValue[], mergeKey: string): PatchDirectives {
  const additions = patch.filter((item) => !Object.hasOwn(asObject(item), DIRECTIVE));
  if (additions.length === patch.length) return { remaining: original, additions };
  const doomed = new Set<JsonValue>();
  let replaces = false;
  for (const item of patch.map(asObject)) {
    const directive = getKey(item, DIRECTIVE);
    if (directive === undefined) continue;
    if (directive === 'delete') doomed.add(requiredIdentity(item, mergeKey));
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw new StrategicPatchError('merging lists cannot yet be specified in the patch');
    else throw badDirective(directive, item);
  }
  if (replaces) return { remaining: additions, additions: [] };
  return { remaining: original.filter((item) => !doomed.has(getKey(asObject(item), mergeKey) ?? null)), additions };
}

function mergeObjects(original: readonly JsonValue[], patch: readonly JsonValue[], merge: ListMerge): JsonValue[] {
  const { mergeKey, items, mergeItems } = merge;
  const merged = [...original];
  const places = positions(original, mergeKey);
  for (const item of patch.map(asObject)) {
    const identity = getKey(item, mergeKey);
    if (identity === undefined) throw noMergeKey(item, mergeKey);
    const place = places.get(identity);
    const existing = place === undefined ? undefined : merged[place];
    if (place !== undefined && isJsonObject(existing)) merged[place] = mergeItems(existing, item, items);
    else places.set(identity, merged.push(item) - 1);
  }
  return merged;
}
