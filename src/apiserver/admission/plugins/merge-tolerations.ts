import type { core } from '#api';
import { deepEqual, type JsonValue } from '#machinery';

type Toleration = core.Toleration;

/** The union of both lists, without tolerations that another one covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [i, toleration] of all.entries()) {
    const isCovered = merged.some((other) => coversToleration(other, toleration));
    // Of equal ones the first stays.
    if (!isCovered && !all.slice(i + 1).some((other) => !isSame(other, toleration) && coversToleration(other, toleration)))
      merged.push(toleration);
  }
  return merged;
}

function isSame(a: Toleration, b: Toleration): boolean {
  return deepEqual(a as unknown as JsonValue, b as unknown as JsonValue);
}

/** Whether everything that the second tolerates is tolerated by the first. */
export function coversToleration(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const isAnyKey = !wide.key && wide.operator === 'Exists';
  if ((narrow.key ?? '') !== (wide.key ?? '') && !isAnyKey) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  const isEqual = !wide.operator || wide.operator === 'Equal';
  return isEqual && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}
