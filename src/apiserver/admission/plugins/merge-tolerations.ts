import type { core } from '#api';
import { deepEqual, type JsonValue } from '#machinery';

type Toleration = core.Toleration;

/** All tolerations of both lists, but for those that another one covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [i, one] of all.entries()) {
    const isKnown = merged.some((other) => covers(other, one));
    // Of equal ones the first stays.
    if (!isKnown && !all.slice(i + 1).some((other) => !same(other, one) && covers(other, one))) merged.push(one);
  }
  return merged;
}

function same(a: Toleration, b: Toleration): boolean {
  return deepEqual(a as unknown as JsonValue, b as unknown as JsonValue);
}

function covers(wide: Toleration, one: Toleration): boolean {
  if (same(wide, one)) return true;
  const isAnyKey = !wide.key && wide.operator === 'Exists';
  if ((one.key ?? '') !== (wide.key ?? '') && !isAnyKey) return false;
  if (wide.effect && wide.effect !== one.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (one.tolerationSeconds === undefined || one.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  const isEqual = !wide.operator || wide.operator === 'Equal';
  return isEqual && one.operator === 'Equal' && (one.value ?? '') === (wide.value ?? '');
}
