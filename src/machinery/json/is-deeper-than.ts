import type { JsonValue } from './json-value.ts';

/** Whether objects and lists are nested in more levels than `limit`. */
export function isDeeperThan(root: JsonValue, limit: number): boolean {
  let level: readonly object[] = containersIn([root]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    level = level.flatMap((container) => containersIn(Object.values(container)));
  }
  return false;
}

function containersIn(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null) as object[];
}
