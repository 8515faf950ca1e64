import { goQuote } from '#machinery';

/** Indexes as a job writes them: `0,2-4`. */
interface Interval {
  readonly first: number;
  readonly last: number;
}

const INTEGER = /^[+-]?\d{1,15}$/;

/** The number of indexes in a list. Throws with the API's text if malformed. */
export function countIndexes(list: string, completions: number): number {
  if (list === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const text of list.split(',')) {
    const { first, last } = parseInterval(text, completions);
    if (previous !== undefined && previous >= first) throw new Error(nonIncreasing(previous, first));
    total += last - first + 1;
    previous = last;
  }
  return total;
}

/** The first index that is in both lists. Malformed parts are ignored. */
export function firstSharedIndex(a: string, b: string, completions: number): number | undefined {
  if (a === '' || b === '') return undefined;
  const remaining = intervalsOf(a, completions);
  const right = intervalsOf(b, completions);
  let [i, j] = [0, 0];
  while (i < remaining.length && j < right.length) {
    const x = remaining[i] as Interval;
    const y = right[j] as Interval;
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) i++;
    else j++;
  }
  return undefined;
}

function intervalsOf(list: string, completions: number): Interval[] {
  return list.split(',').flatMap((text) => {
    try {
      return [parseInterval(text, completions)];
    } catch {
      return [];
    }
  });
}

function parseInterval(text: string, completions: number): Interval {
  const [low = '', high, ...rest] = text.split('-');
  if (rest.length > 0) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    throw new Error(`the fragment ${goQuote(text)} ${rule}`);
  }
  const first = parseIndex(low, completions);
  if (high === undefined) return { first, last: first };
  const last = parseIndex(high, completions);
  if (first >= last) throw new Error(nonIncreasing(first, last));
  return { first, last };
}

function parseIndex(text: string, completions: number): number {
  if (!INTEGER.test(text)) throw new Error(`cannot convert string to integer for index: ${goQuote(text)}`);
  const index = Number(text);
  if (index >= completions) throw new Error(`too large index: ${goQuote(text)}`);
  return index;
}

function nonIncreasing(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}
