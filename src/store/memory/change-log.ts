/**
 * The changes of consecutive revisions. Immutable; appending copies nothing, since logs with a common
 * beginning share one array, of which each knows its part. Only the second continuation of the same log copies.
 */
export class ChangeLog<C> {
  readonly #shared: (readonly C[])[];
  /** The index of this log's first entry in the array. */
  readonly #start: number;
  readonly #end: number;
  /** The revision of the first entry. */
  readonly #first: number;

  private constructor(shared: (readonly C[])[], { start, end, first }: { start: number; end: number; first: number }) {
    this.#shared = shared;
    this.#start = start;
    this.#end = end;
    this.#first = first;
  }

  /** An empty log that begins after `revision`. */
  static after<C>(revision: number): ChangeLog<C> {
    return new ChangeLog<C>([], { start: 0, end: 0, first: revision + 1 });
  }

  get size(): number {
    return this.#end - this.#start;
  }

  /** Appends the changes of the next revision. */
  with(changes: readonly C[]): ChangeLog<C> {
    const isLast = this.#shared.length === this.#end;
    const shared = isLast ? this.#shared : this.#shared.slice(this.#start, this.#end);
    shared.push(changes);
    return new ChangeLog(shared, { start: isLast ? this.#start : 0, end: shared.length, first: this.#first });
  }

  /** Drops everything up to and including `revision`. */
  without(revision: number): ChangeLog<C> {
    const start = this.#start + Math.min(Math.max(revision + 1 - this.#first, 0), this.size);
    const first = this.#first + (start - this.#start);
    // Compacted entries are dropped lazily, once they outweigh the cost of copying the rest.
    if (start * 2 < this.#shared.length) return new ChangeLog(this.#shared, { start, end: this.#end, first });
    return new ChangeLog(this.#shared.slice(start, this.#end), { start: 0, end: this.#end - start, first });
  }

  /** Calls `see` with every revision from `from` on and its changes, in order, until it returns false. */
  visit(from: number, see: (revision: number, changes: readonly C[]) => boolean): void {
    for (let i = this.#start + Math.max(from - this.#first, 0); i < this.#end; i++) {
      if (!see(this.#first + i - this.#start, this.#shared[i]!)) return;
    }
  }
}
