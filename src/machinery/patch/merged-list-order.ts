import { getKey, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { badArgument, noMergeKey } from './strategic-error.ts';

export const DIRECTIVE = '$patch';

/** The value that identifies an item: its merge key's, or the item itself when it is a scalar. */
export function identityOf(item: JsonValue, mergeKey: string): JsonValue | undefined {
  if (mergeKey === '') return item;
  return isJsonObject(item) ? getKey(item, mergeKey) : undefined;
}

/** As `identityOf`; throws for objects without the merge key and for non-objects. */
export function requiredIdentity(item: JsonValue, mergeKey: string): JsonValue {
  if (mergeKey === '') return item;
  const object = asObject(item);
  const identity = getKey(object, mergeKey);
  if (identity === undefined) throw noMergeKey(object, mergeKey);
  return identity;
}

export function asObject(item: JsonValue): JsonObject {
  if (!isJsonObject(item)) throw badArgument('map', item);
  return item;
}

export function isDeletion(item: JsonValue): boolean {
  return isJsonObject(item) && getKey(item, DIRECTIVE) === 'delete';
}

interface Orders {
  /** The order in the patch, which its items keep. */
  readonly patchOrder: readonly JsonValue[];
  /** The order of the live list, for all other items. */
  readonly liveOrder: readonly JsonValue[];
  readonly mergeKey: string;
}

/**
 * Orders a merged list: the patch's items in the patch's order, the others in theirs, each of them before the first of the patch's items that follows
 * it in the live list. New items of the patch come before incomparable ones.
 */
export function orderMergedList(merged: readonly JsonValue[], { patchOrder, liveOrder, mergeKey }: Orders): JsonValue[] {
  const inPatch = positions(patchOrder, mergeKey);
  const identities = merged.map((item) => requiredIdentity(item, mergeKey));
  const fromPatch = merged.filter((_, i) => inPatch.has(identities[i] ?? null));
  const others = merged.filter((_, i) => !inPatch.has(identities[i] ?? null));
  for (const item of patchOrder) requiredIdentity(item, mergeKey);
  const inLive = positions(liveOrder, mergeKey);
  return interleave(sortedBy(others, inLive, mergeKey), sortedBy(fromPatch, inPatch, mergeKey), { inLive, mergeKey });
}

/** The first position of each identity. */
export function positions(list: readonly JsonValue[], mergeKey: string): Map<JsonValue, number> {
  const result = new Map<JsonValue, number>();
  list.forEach((item, i) => {
    const identity = identityOf(item, mergeKey);
    if (identity !== undefined && !result.has(identity)) result.set(identity, i);
  });
  return result;
}

/** In the given order; items to be deleted go last. */
export function sortedBy(items: readonly JsonValue[], order: ReadonlyMap<JsonValue, number>, mergeKey: string): JsonValue[] {
  const place = (item: JsonValue) => order.get(identityOf(item, mergeKey) ?? null) ?? -1;
  const present = mergeKey === '' ? [...items] : items.filter((item) => !isDeletion(item));
  const deleted = mergeKey === '' ? [] : items.filter(isDeletion);
  return present.sort((a, b) => place(a) - place(b)).concat(deleted);
}

interface LiveOrder {
  readonly inLive: ReadonlyMap<JsonValue, number>;
  readonly mergeKey: string;
}

function interleave(left: readonly JsonValue[], right: readonly JsonValue[], { inLive, mergeKey }: LiveOrder): JsonValue[] {
  const place = (item: JsonValue) => inLive.get(identityOf(item, mergeKey) ?? null);
  const result: JsonValue[] = [];
  let next = 0;
  for (const item of right) {
    const limit = place(item);
    while (next < left.length && limit !== undefined && precedes(place(left[next] ?? null), limit)) {
      result.push(left[next] ?? null);
      next++;
    }
    result.push(item);
  }
  // Allocated with its exact size, unlike a list that grows: lists of patched objects live long.
  return result.concat(left.slice(next));
}

function precedes(place: number | undefined, limit: number): boolean {
  return place !== undefined && place < limit;
}
