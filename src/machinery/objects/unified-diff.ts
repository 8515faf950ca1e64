/** Where `size` lines agree: from `a` in the first text and from `b` in the second. */
interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

interface Range {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

interface Change extends Range {
  readonly isSame: boolean;
}

/** From this many lines on, a line that makes up more than a hundredth of the text does not anchor a match. */
const POPULAR_FROM = 200;

/**
 * A unified diff of two texts, given as lines with their line ends. Matches by the longest common run, then left and right of it
 * (Ratcliff and Obershelp), which is what upstream's messages are made with; a minimal diff would differ from them.
 */
export function unifiedDiff(a: readonly string[], b: readonly string[], context: number): string {
  return groupChanges(changesOf(a, b), context)
    .map((group) => hunkText(group, a, b))
    .join('');
}

function changesOf(a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const match of [...matchesOf(a, b), { a: a.length, b: b.length, size: 0 }]) {
    if (i < match.a || j < match.b) changes.push({ isSame: false, aStart: i, aEnd: match.a, bStart: j, bEnd: match.b });
    i = match.a + match.size;
    j = match.b + match.size;
    if (match.size > 0) changes.push({ isSame: true, aStart: match.a, aEnd: i, bStart: match.b, bEnd: j });
  }
  return changes;
}

function matchesOf(a: readonly string[], b: readonly string[]): Match[] {
  const positions = positionsOf(b);
  const matches: Match[] = [];
  const pending: Range[] = [{ aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length }];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const match = longestMatch({ a, b, positions, range });
    if (match.size === 0) continue;
    matches.push(match);
    pending.push({ ...range, aEnd: match.a, bEnd: match.b });
    pending.push({ ...range, aStart: match.a + match.size, bStart: match.b + match.size });
  }
  return joinAdjacent(matches.sort((x, y) => x.a - y.a || x.b - y.b));
}

function positionsOf(lines: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  lines.forEach((line, i) => {
    const linePositions = positions.get(line);
    if (linePositions === undefined) positions.set(line, [i]);
    else linePositions.push(i);
  });
  if (lines.length < POPULAR_FROM) return positions;
  const limit = Math.trunc(lines.length / 100) + 1;
  for (const [line, places] of positions) if (places.length > limit) positions.delete(line);
  return positions;
}

interface Search {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly positions: ReadonlyMap<string, readonly number[]>;
  readonly range: Range;
}

function longestMatch({ a, b, positions, range }: Search): Match {
  const { aStart, bStart, bEnd } = range;
  let best: Match = { a: aStart, b: bStart, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = aStart; i < range.aEnd; i++) {
    const next = new Map<number, number>();
    for (const j of positions.get(a[i] ?? '') ?? []) {
      if (j < bStart) continue;
      if (j >= bEnd) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  return extend(best, { a, b, positions, range });
}

/** Popular lines do not begin a match, but they lengthen one. */
function extend(match: Match, { a, b, range }: Search): Match {
  let { a: i, b: j, size } = match;
  while (i > range.aStart && j > range.bStart && a[i - 1] === b[j - 1]) {
    i--;
    j--;
    size++;
  }
  while (i + size < range.aEnd && j + size < range.bEnd && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

function joinAdjacent(matches: readonly Match[]): Match[] {
  const joined: Match[] = [];
  for (const match of matches) {
    const last = joined.at(-1);
    if (last !== undefined && last.a + last.size === match.a && last.b + last.size === match.b) {
      joined[joined.length - 1] = { ...last, size: last.size + match.size };
    } else joined.push(match);
  }
  return joined;
}

/** Groups of changes with `context` lines around them; long agreements separate groups. */
function groupChanges(changes: readonly Change[], context: number): Change[][] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  changes.forEach((change, i) => {
    const atEdge = (i === 0 || i === changes.length - 1) && change.isSame;
    const trimmed = atEdge ? trimEdge(change, context, i === 0) : change;
    if (!atEdge && change.isSame && change.aEnd - change.aStart > 2 * context) {
      groups.push([...group, trimEdge(change, context, false)]);
      group = [trimEdge(change, context, true)];
    } else group.push(trimmed);
  });
  groups.push(group);
  return groups.filter((candidate) => candidate.some(({ isSame: same }) => !same));
}

function trimEdge(change: Change, context: number, keepEnd: boolean): Change {
  const cut = Math.max(0, change.aEnd - change.aStart - context);
  if (keepEnd) return { ...change, aStart: change.aStart + cut, bStart: change.bStart + cut };
  return { ...change, aEnd: change.aEnd - cut, bEnd: change.bEnd - cut };
}

function hunkText(group: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return '';
  const header = `@@ -${rangeText(first.aStart, last.aEnd)} +${rangeText(first.bStart, last.bEnd)} @@\n`;
  return header + group.map((change) => changeText(change, a, b)).join('');
}

function changeText(change: Change, a: readonly string[], b: readonly string[]): string {
  const left = a.slice(change.aStart, change.aEnd);
  if (change.isSame) return left.map((line) => ` ${line}`).join('');
  const right = b.slice(change.bStart, change.bEnd);
  return [...left.map((line) => `-${line}`), ...right.map((line) => `+${line}`)].join('');
}

function rangeText(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return length === 0 ? `${start},0` : `${start + 1},${length}`;
}
