import type { NodeInfo } from '../../framework/node-info.ts';
import type { PodCounts } from '../../framework/snapshot.ts';

/** Numbers by topology key and value. */
export class TopologyCounts {
  readonly #keys = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  add(key: string, value: string, by: number): void {
    if (by === 0) return;
    let values = this.#keys.get(key);
    if (values === undefined) {
      values = new Map();
      this.#keys.set(key, values);
    }
    const count = (values.get(value) ?? 0) + by;
    if (count !== 0) values.set(value, count);
    else if (values.delete(value) && values.size === 0) this.#keys.delete(key);
  }

  /** Adds what is on each node to its domain; nodes without the key have none. */
  addNodes(key: string, counts: PodCounts, weight: number): void {
    for (const [node, count] of counts) {
      const value = node.labels[key];
      if (value !== undefined) this.add(key, value, count * weight);
    }
  }

  get(key: string, value: string): number {
    return this.#keys.get(key)?.get(value) ?? 0;
  }

  /** Whether one of the node's domains has a count. */
  touches({ labels }: NodeInfo): boolean {
    for (const [key, values] of this.#keys) {
      const value = labels[key];
      if (value !== undefined && (values.get(value) ?? 0) > 0) return true;
    }
    return false;
  }

  sumFor({ labels }: NodeInfo): number {
    let sum = 0;
    for (const [key, values] of this.#keys) {
      const value = labels[key];
      if (value !== undefined) sum += values.get(value) ?? 0;
    }
    return sum;
  }

  clone(): TopologyCounts {
    const copy = new TopologyCounts();
    for (const [key, values] of this.#keys) copy.#keys.set(key, new Map(values));
    return copy;
  }
}
