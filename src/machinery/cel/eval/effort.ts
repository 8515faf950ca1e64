import type { CallCost } from '../cost/runtime-cost.ts';
import { CelList, CelMap, NativeMap } from '../values/containers.ts';
import type { CelValue } from '../values/value.ts';
import { charge, countVisits, type EvalContext } from './context.ts';

/** The elements that a call visits besides its cost: those of lists, or all nested values; of long strings, their length. */
export type Effort = 'texts' | 'elements' | 'contents';

const EFFORTS: ReadonlyMap<string, Effort> = new Map([
  ['_+_', 'elements'],
  ['@in', 'elements'],
  ['_==_', 'contents'],
  ['_!=_', 'contents'],
]);

export function effortOf(name: string): Effort {
  return EFFORTS.get(name) ?? 'texts';
}

const LONG_TEXT = 4096;
const CHARACTERS_A_VISIT = 16;

/** Counts the elements that a call visits in an argument. */
export function countEffort(context: EvalContext, value: CelValue, effort: Effort): void {
  if (typeof value === 'string') countText(context, value);
  else if (effort === 'texts' || typeof value !== 'object' || value === null) return;
  else if (effort === 'contents') countVisits(context, contentSize(value, context.visitsLeft));
  else if (value instanceof CelList) countVisits(context, value.size);
}

function countText(context: EvalContext, text: string): void {
  if (text.length > LONG_TEXT) countVisits(context, text.length / CHARACTERS_A_VISIT);
}

/** The number of nested values, at most a little more than the limit. */
function contentSize(value: CelValue, limit: number): number {
  if (value instanceof CelList) return value.raw === undefined ? sizeOfAll(value.values(), limit) : rawSize(value.raw, limit);
  if (value instanceof NativeMap) return rawSize(value.raw, limit);
  if (!(value instanceof CelMap)) return 1;
  let size = 1;
  for (const key of value.keys()) {
    size += contentSize(value.find(key) ?? null, limit - size);
    if (size > limit) break;
  }
  return size;
}

function sizeOfAll(values: readonly CelValue[], limit: number): number {
  let size = 1;
  for (const value of values) {
    size += contentSize(value, limit - size);
    if (size > limit) break;
  }
  return size;
}

function rawSize(raw: unknown, limit: number): number {
  if (typeof raw !== 'object' || raw === null) return 1;
  let size = 1;
  for (const value of Array.isArray(raw) ? raw : Object.values(raw)) {
    size += rawSize(value, limit - size);
    if (size > limit) break;
  }
  return size;
}

interface MeasuredCall {
  readonly context: EvalContext;
  readonly values: readonly CelValue[];
  readonly cost: Exclude<CallCost, number>;
}

/** Applies a function whose cost depends on its values. It is not started if it would exceed the limit. */
export function measuredCall({ context, values, cost }: MeasuredCall, apply: () => CelValue): CelValue {
  if (cost.length > 1) {
    const result = apply();
    charge(context, cost(values, result));
    return result;
  }
  const fixedCost = cost(values, null);
  if (context.cost + fixedCost > context.costLimit) charge(context, fixedCost);
  const result = apply();
  charge(context, fixedCost);
  return result;
}

const REMEMBERED_SIZE = 64;

/** `size` of maps: JSON objects do not know how many keys they have. */
export function rememberSizes(apply: (value: CelValue) => CelValue): (value: CelValue) => CelValue {
  const sizes = new WeakMap<object, number>();
  return (value) => {
    if (!(value instanceof NativeMap)) return apply(value);
    const size = sizes.get(value.raw) ?? value.size;
    if (size > REMEMBERED_SIZE) sizes.set(value.raw, size);
    return size;
  };
}
