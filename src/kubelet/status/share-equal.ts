import { deepEqual, type JsonValue } from '#machinery';

/** `value`, in which parts that equal the same part of `other` are replaced by those: equal parts are in memory once. */
export function shareEqual<T>(value: T, other: unknown): T {
  if (value === other || !isComposite(value) || !isComposite(other)) return value;
  if (deepEqual(value as JsonValue, other as JsonValue)) return other as T;
  if (Array.isArray(value)) return value.map((item, i) => shareEqual(item, other[i])) as T;
  const shared: Record<string, unknown> = {};
  for (const key in value) shared[key] = shareEqual(value[key], other[key]);
  return shared as T;
}

function isComposite(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
