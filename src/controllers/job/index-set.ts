/** A set of completion indexes, as statuses write it: `1,3-5,7`. Immutable. */
export class IndexSet {
  static readonly empty = new IndexSet(new Set());

  private constructor(private readonly indexes: ReadonlySet<number>) {}

  /** Those of a text that are less than `limit`; nothing when it cannot be read. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const found = new Set<number>();
    for (const part of (text ?? '').split(',').filter((each) => each !== '')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match === null) return IndexSet.empty;
      const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
      for (let index = Number(match[1]); index <= last; index++) found.add(index);
    }
    return new IndexSet(found);
  }

  get size(): number {
    return this.indexes.size;
  }

  has(index: number): boolean {
    return this.indexes.has(index);
  }

  with(indexes: Iterable<number>): IndexSet {
    return new IndexSet(new Set([...this.indexes, ...indexes]));
  }

  countIn(other: IndexSet): number {
    return [...this.indexes].filter((index) => other.has(index)).length;
  }

  toString(): string {
    const sorted = [...this.indexes].sort((a, b) => a - b);
    const parts: string[] = [];
    for (let i = 0; i < sorted.length; ) {
      let end = i;
      while (sorted[end + 1] === sorted[end]! + 1) end++;
      parts.push(intervalText(sorted[i]!, sorted[end]!));
      i = end + 1;
    }
    return parts.join(',');
  }
}

function intervalText(first: number, last: number): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}
