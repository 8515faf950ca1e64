import { pushAll } from '#base';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { DomainCounts } from '../../framework/snapshot.ts';

interface Layer {
  readonly key: string;
  readonly counts: DomainCounts;
  readonly weight: number;
}

/** Counts by topology key and value: the snapshot's counts, not copied, plus changes by a simulation. */
export class TopologyCounts {
  readonly #layers: Layer[] = [];
  readonly #changes = new Map<string, Map<string, number>>();

  /** Whether no domain has a count. */
  get isEmpty(): boolean {
    if (this.#layers.length === 0 && this.#changes.size === 0) return true;
    if (this.#changes.size === 0) return false;
    const keys = new Set([...this.#layers.map(({ key }) => key), ...this.#changes.keys()]);
    return [...keys].every((key) => this.#valuesOf(key).every((value) => this.get(key, value) === 0));
  }

  /** The topologies that have a count. */
  get keys(): readonly string[] {
    return [...this.#layers.map(({ key }) => key), ...this.#changes.keys()];
  }

  addDomains(key: string, counts: DomainCounts, weight: number): void {
    if (counts.size > 0 && weight !== 0) this.#layers.push({ key, counts, weight });
  }

  change(key: string, value: string, by: number): void {
    const values = this.#changes.get(key) ?? new Map<string, number>();
    this.#changes.set(key, values);
    values.set(value, (values.get(value) ?? 0) + by);
  }

  get(key: string, value: string): number {
    let sum = this.#changes.get(key)?.get(value) ?? 0;
    for (const layer of this.#layers) if (layer.key === key) sum += (layer.counts.get(value) ?? 0) * layer.weight;
    return sum;
  }

  /** Whether one of the node's domains has a count. */
  touches({ labels }: NodeInfo): boolean {
    for (const { key } of this.#layers) {
      const value = labels[key];
      if (value !== undefined && this.get(key, value) > 0) return true;
    }
    for (const key of this.#changes.keys()) {
      const value = labels[key];
      if (value !== undefined && this.get(key, value) > 0) return true;
    }
    return false;
  }

  /** Over all keys; only the snapshot's counts. */
  sumFor({ labels }: NodeInfo): number {
    let sum = 0;
    for (const { key, counts, weight } of this.#layers) {
      const value = labels[key];
      if (value !== undefined) sum += (counts.get(value) ?? 0) * weight;
    }
    return sum;
  }

  clone(): TopologyCounts {
    const copy = new TopologyCounts();
    pushAll(copy.#layers, this.#layers);
    for (const [key, values] of this.#changes) copy.#changes.set(key, new Map(values));
    return copy;
  }

  #valuesOf(key: string): string[] {
    const values = this.#layers.filter((layer) => layer.key === key).flatMap(({ counts }) => [...counts.keys()]);
    return [...values, ...(this.#changes.get(key)?.keys() ?? [])];
  }
}
