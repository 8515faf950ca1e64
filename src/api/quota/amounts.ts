import { maxQuantity, Quantity } from '#machinery';
import type { ResourceList } from '../core/v1/resource-list/resource-list.ts';

/** Quantities by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

export function amountsOf(list: ResourceList = {}): Map<string, Quantity> {
  return new Map(Object.entries(list).map(([name, text]) => [name, Quantity.parse(text)]));
}

export function addAmounts(a: Amounts, b: Amounts): Map<string, Quantity> {
  const sum = new Map(a);
  accumulate(sum, b);
  return sum;
}

/** Adds to `total`, which the caller owns. */
export function accumulate(sum: Map<string, Quantity>, added: Amounts): void {
  for (const [name, quantity] of added) sum.set(name, sum.get(name)?.add(quantity) ?? quantity);
}

export function maxAmounts(lists: readonly Amounts[]): Map<string, Quantity> {
  const result = new Map<string, Quantity>();
  for (const list of lists) {
    for (const [name, quantity] of list) {
      const current = result.get(name);
      result.set(name, current === undefined ? quantity : maxQuantity(current, quantity));
    }
  }
  return result;
}

/** Converts to the form in objects. */
export function listOfAmounts(amounts: Amounts): ResourceList {
  return Object.fromEntries([...amounts].map(([name, quantity]) => [name, quantity.toString()]));
}
