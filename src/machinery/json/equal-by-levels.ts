/** Compares values one level deeper. */
export type EqualBelow<T> = (a: T, b: T) => boolean;

/** Calls go this deep; a text of 10,000 levels needs more than the stack has. */
const MAX_CALLS = 500;

/**
 * Deep equality by a function that compares two values and calls `equal` for their children. All pairs must be equal, so those too deep for the stack
 * are deferred.
 */
export function equalByLevels<T>(compare: (a: T, b: T, equal: EqualBelow<T>) => boolean, a: T, b: T): boolean {
  if (a === b) return true;
  let later: { readonly a: T; readonly b: T }[] | undefined;
  let depth = 0;
  const equal = (x: T, y: T): boolean => {
    if (depth >= MAX_CALLS) {
      later ??= [];
      later.push({ a: x, b: y });
      return true;
    }
    depth++;
    const result = compare(x, y, equal);
    depth--;
    return result;
  };
  if (!equal(a, b)) return false;
  for (let pair = later?.pop(); pair !== undefined; pair = later?.pop()) if (!equal(pair.a, pair.b)) return false;
  return true;
}
