/** Consecutive indexes, both ends included. */
interface Interval {
  readonly first: number;
  readonly last: number;
}

/** A set of completion indexes in the format of job statuses: `1,3-5,7`. Immutable. Memory is proportional to its intervals, not its indexes. */
export class IndexSet {
  static readonly empty = new IndexSet([]);

  /** In ascending order, with gaps between them. */
  private constructor(private readonly intervals: readonly Interval[]) {}

  /** Indexes below `limit`; empty when the text cannot be parsed. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const intervals: Interval[] = [];
    for (const part of (text ?? '').split(',').filter((item) => item !== '')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match === null) return IndexSet.empty;
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
      if (first <= last) intervals.push({ first, last });
    }
    return new IndexSet(merged(intervals));
  }

  get size(): number {
    return this.intervals.reduce((size, { first, last }) => size + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#intervalAt(index) !== undefined;
  }

  /** The first index from `index` on that is not in the set. */
  nextAbsent(index: number): number {
    return (this.#intervalAt(index)?.last ?? index - 1) + 1;
  }

  with(indexes: Iterable<number>): IndexSet {
    return new IndexSet(merged([...this.intervals, ...Array.from(indexes, (index) => ({ first: index, last: index }))]));
  }

  countIn(other: IndexSet): number {
    let count = 0;
    for (let i = 0, j = 0; i < this.intervals.length && j < other.intervals.length; ) {
      const [own, others] = [this.intervals[i]!, other.intervals[j]!];
      count += Math.max(0, Math.min(own.last, others.last) - Math.max(own.first, others.first) + 1);
      if (own.last < others.last) i++;
      else j++;
    }
    return count;
  }

  toString(): string {
    return this.intervals.map(intervalText).join(',');
  }

  /** The interval that holds the index, by binary search. */
  #intervalAt(index: number): Interval | undefined {
    let [low, high] = [0, this.intervals.length - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const interval = this.intervals[middle]!;
      if (index < interval.first) high = middle - 1;
      else if (index > interval.last) low = middle + 1;
      else return interval;
    }
    return undefined;
  }
}

/** Sorted, with overlapping and adjacent intervals merged. */
function merged(intervals: Interval[]): readonly Interval[] {
  const result: { first: number; last: number }[] = [];
  for (const { first, last } of intervals.sort((a, b) => a.first - b.first)) {
    const previous = result.at(-1);
    if (previous !== undefined && first <= previous.last + 1) previous.last = Math.max(previous.last, last);
    else result.push({ first, last });
  }
  return result;
}

function intervalText({ first, last }: Interval): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}
