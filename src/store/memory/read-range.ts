import { needsPointOrder, pointOrder, unitOrder } from '../key-order.ts';
import type { Entry, Page, RangeRequest } from '../store.ts';
import type { PersistentMap } from './persistent-map.ts';

const NO_BYTES = new Uint8Array(0);

/** Answers a range from the keys of one revision. */
export function readRange(keys: PersistentMap<string, Entry>, request: RangeRequest, revision: number): Page {
  const { prefix = '', start = '', end, limit = Number.POSITIVE_INFINITY, select = 'entries' } = request;
  const exotic = [prefix, start, end ?? ''].some(needsPointOrder);
  const map = exotic ? keys.withOrder(pointOrder) : keys;
  const order = exotic ? pointOrder : unitOrder;
  const from = order(start, prefix) > 0 ? start : prefix;
  const entries: Entry[] = [];
  let count = 0;
  let hasMore = false;
  map.visit(from, (key, entry) => {
    if (!key.startsWith(prefix) || (end !== undefined && compareKeys(key, end) >= 0)) return false;
    count++;
    if (select === 'count') return true;
    if (entries.length < limit) entries.push(select === 'keys' ? { ...entry, value: NO_BYTES } : entry);
    else hasMore = true;
    return !hasMore || request.withCount === true;
  });
  return { status: 'ok', entries, more: hasMore, count: hasMore && request.withCount !== true ? undefined : count, revision };
}

function compareKeys(a: string, b: string): number {
  return needsPointOrder(a) ? pointOrder(a, b) : a < b ? -1 : a === b ? 0 : 1;
}
