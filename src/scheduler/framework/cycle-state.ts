/** The data of plugins during one scheduling cycle. */
export class CycleState {
  readonly #data = new Map<string, StateData>();
  /** Plugins that returned Skip in PreFilter or PreScore. */
  readonly skipFilter = new Set<string>();
  readonly skipScore = new Set<string>();

  read<T extends StateData>(key: string): T | undefined {
    return this.#data.get(key) as T | undefined;
  }

  write(key: string, data: StateData): void {
    this.#data.set(key, data);
  }

  /** An independent copy, for simulated evictions. */
  clone(): CycleState {
    const copy = new CycleState();
    for (const [key, data] of this.#data) copy.#data.set(key, (data as Partial<CloneableState>).clone?.() ?? data);
    for (const plugin of this.skipFilter) copy.skipFilter.add(plugin);
    for (const plugin of this.skipScore) copy.skipScore.add(plugin);
    return copy;
  }
}

export type StateData = object;

/** Data that `addPod` and `removePod` change; other data is shared by the copies of a state. */
export interface CloneableState {
  clone(): StateData;
}
