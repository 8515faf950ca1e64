import type { JsonValue } from './json-value.ts';

/** Whether objects and lists are nested in more levels than `limit`. */
export function isDeeperThan(root: JsonValue, limit: number): boolean {
  let level: object[] = [];
  addContainer(root, level);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    const next: object[] = [];
    for (const container of level) addMembers(container, next);
    level = next;
  }
  return false;
}

function addMembers(container: object, containers: object[]): void {
  if (Array.isArray(container)) for (const item of container) addContainer(item, containers);
  else for (const key in container) addContainer((container as Record<string, unknown>)[key], containers);
}

function addContainer(value: unknown, containers: object[]): void {
  if (typeof value === 'object' && value !== null) containers.push(value);
}
