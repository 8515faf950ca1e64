import { compareBytes } from '#machinery';
import type { FieldReport } from '../../field-report.ts';

interface Bound {
  /** The items of a longer list are not validated. */
  readonly max?: number;
}

/** Validates each item of a bounded list. */
export function validateItems<T>(
  items: readonly T[] = [],
  at: FieldReport,
  { max, item }: Bound & { readonly item: (value: T, at: FieldReport) => void },
): void {
  if (max !== undefined && items.length > max) at.tooMany(items.length, max);
  else for (const [i, value] of items.entries()) item(value, at.index(i));
}

interface SetRules<T> extends Bound {
  readonly item: (value: T, at: FieldReport) => void;
  /** The unique key of items; objects are compared by their JSON. */
  readonly keyOf: (value: T) => unknown;
}

/** Validates a list with unique items. Duplicates are reported after the errors of each item. */
export function validateSet<T>(items: readonly T[] = [], at: FieldReport, { max, item, keyOf }: SetRules<T>): void {
  if (max !== undefined && items.length > max) {
    at.tooMany(items.length, max);
    return;
  }
  for (const [i, value] of items.entries()) item(value, at.index(i));
  const keys = new Set<unknown>();
  items.forEach((value, i) => {
    const key = keyOf(value);
    const identity = typeof key === 'object' ? JSON.stringify(key) : key;
    if (keys.has(identity)) at.index(i).duplicate(key);
    keys.add(identity);
  });
}

interface MapRules<T> extends Bound {
  /** Reported on the map itself. */
  readonly key: (key: string, at: FieldReport) => void;
  readonly item: (value: T, at: FieldReport) => void;
  /** Longer keys are shortened in paths. */
  readonly shownKey: number;
}

export function validateEntries<T>(map: Readonly<Record<string, T>> = {}, at: FieldReport, rules: MapRules<T>): void {
  const keys = Object.keys(map).sort(compareBytes);
  if (rules.max !== undefined && keys.length > rules.max) {
    at.tooMany(keys.length, rules.max);
    return;
  }
  for (const key of keys) {
    rules.key(key, at);
    rules.item(map[key] as T, at.key(shortened(key, rules.shownKey)));
  }
}

const ELLIPSIS = '...';

function shortened(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const maxText = max - ELLIPSIS.length;
  return bytes.subarray(0, Math.floor((maxText + 1) / 2)) + ELLIPSIS + bytes.subarray(bytes.length - Math.floor(maxText / 2));
}
