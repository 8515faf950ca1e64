const FIRST_SLOTS = 16;

/** The open streams of a connection by id. A Map would keep completed requests in memory: see `SlotList`. */
export class StreamTable<T extends { readonly id: number }> {
  /** Each stream is in the first free slot at or after its own; at least half of the slots are free. */
  #slots: (T | undefined)[] = Array(FIRST_SLOTS).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): T | undefined {
    return this.#slots[this.#find(id)];
  }

  add(stream: T): void {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    this.#slots[this.#find(stream.id)] = stream;
    this.#size++;
  }

  delete(id: number): void {
    let free = this.#find(id);
    if (this.#slots[free] === undefined) return;
    this.#slots[free] = undefined;
    this.#size--;
    // Those after it move up where they may.
    for (let at = this.#next(free); this.#slots[at] !== undefined; at = this.#next(at)) {
      const stream = this.#slots[at]!;
      this.#slots[at] = undefined;
      free = this.#find(stream.id);
      this.#slots[free] = stream;
    }
  }

  /** A copy. */
  values(): readonly T[] {
    return this.#slots.filter((stream) => stream !== undefined);
  }

  /** The slot of the stream, or the one to put it into. */
  #find(id: number): number {
    let at = (id >> 1) & (this.#slots.length - 1);
    for (let stream = this.#slots[at]; stream !== undefined && stream.id !== id; stream = this.#slots[at]) at = this.#next(at);
    return at;
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #grow(): void {
    const streams = this.values();
    this.#slots = Array(2 * this.#slots.length).fill(undefined);
    for (const stream of streams) this.#slots[this.#find(stream.id)] = stream;
  }
}
