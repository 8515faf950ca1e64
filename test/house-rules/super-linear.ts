import { ALL, type CharSet, type Expression, parseExpression } from './regular-expression-parser.ts';

/** Repetition counts up to this are constants; larger ones count as unbounded. */
const MAX_COUNT = 256;

/**
 * Why a backtracking matcher may need more than linear time for an expression; undefined when it does not. The expression becomes an
 * automaton with a state for each position that matches a character. If two different states both repeat on the same text, and the second
 * can be reached from the first on it, the time is at least quadratic. The search for the start of a match is such a repeating state.
 * States after a successful match are harmless, since the matcher does not return to them.
 */
export function superLinearProblem(source: string, flags: string): string | undefined {
  const expression = parseExpression(source, flags);
  const looksFar = assertionsOf(expression).some(({ body }) => body !== undefined && isUnbounded(body));
  if (looksFar) return 'looks around without bound';
  const automaton = new Automaton(expression, !flags.includes('y'));
  return automaton.problem();
}

function assertionsOf(expression: Expression): (Expression & { type: 'assertion' })[] {
  if (expression.type === 'assertion') return [expression];
  if (expression.type === 'repeat') return assertionsOf(expression.body);
  return expression.type === 'chars' ? [] : expression.parts.flatMap(assertionsOf);
}

function isUnbounded(expression: Expression): boolean {
  if (expression.type === 'repeat') return expression.max > MAX_COUNT || isUnbounded(expression.body);
  return 'parts' in expression && expression.parts.some(isUnbounded);
}

/** States by the number of ways that lead to them. */
type Ways = ReadonlyMap<number, number>;

interface Fragment {
  /** The number of ways in which it matches the empty string. */
  readonly empty: number;
  /** Whether it matches the empty string unconditionally. */
  readonly isFree: boolean;
  readonly first: Ways;
  /** The first states that can be reached at any offset, not only at the start of the text. */
  readonly anywhere: Ways;
  readonly isEmptyAnywhere: boolean;
  readonly last: Ways;
  /** The last states, after which the match succeeds. */
  readonly free: ReadonlySet<number>;
}

const NO_WAYS: Ways = new Map();
const NOTHING: Fragment = {
  empty: 1,
  isFree: true,
  first: NO_WAYS,
  anywhere: NO_WAYS,
  isEmptyAnywhere: true,
  last: NO_WAYS,
  free: new Set(),
};

function sum(a: Ways, b: Ways): Ways {
  const total = new Map(a);
  for (const [state, ways] of b) total.set(state, (total.get(state) ?? 0) + ways);
  return total;
}

class Automaton {
  readonly #sets: CharSet[] = [];
  readonly #edges: Map<number, number>[] = [];
  readonly #final: ReadonlySet<number>;
  /** The state that searches for a start; undefined for an anchored expression. */
  readonly #search: number | undefined;

  constructor(expression: Expression, searches: boolean) {
    const whole = this.#build(expression);
    this.#final = whole.free;
    this.#search = searches && !whole.isFree ? this.#state(ALL) : undefined;
    if (this.#search !== undefined) this.#connect(new Map([[this.#search, 1]]), whole.anywhere).set(this.#search, 1);
  }

  problem(): string | undefined {
    const states = this.#sets.map((_, state) => state);
    const open = new Set(states.filter((state) => !this.#final.has(state)));
    const repeating = states.filter((state) => open.has(state) && this.#reach(state, open).has(state));
    for (const p of repeating) {
      for (const [q, ways] of this.#edges[p]!) if (ways > 1 && this.#reach(q, open).has(p)) return 'repeats a repetition';
    }
    const loops = states.filter((state) => this.#reach(state).has(state));
    for (const p of loops) {
      const reach = this.#reach(p, p === this.#search ? open : undefined);
      for (const q of repeating) if (q !== p && reach.has(q) && this.#overlap(p, q, open)) return this.#describe(p);
    }
    return undefined;
  }

  #describe(p: number): string {
    return p === this.#search ? 'begins again inside what it repeats' : 'repeats the same text in two places';
  }

  /** Whether one text leads from p to p, from p to q and from q to q. */
  #overlap(p: number, q: number, open: ReadonlySet<number>): boolean {
    const start = [p, p, q];
    const seen = new Set([start.join()]);
    const queue = [start];
    for (let triple = queue.pop(); triple !== undefined; triple = queue.pop()) {
      for (const next of this.#steps(triple as [number, number, number])) {
        if (!open.has(next[2]) || (p === this.#search && (next[0] !== p || !open.has(next[1])))) continue;
        if (next[0] === p && next[1] === q && next[2] === q) return true;
        const key = next.join();
        if (!seen.has(key)) queue.push(next);
        seen.add(key);
      }
    }
    return false;
  }

  *#steps([a, b, c]: [number, number, number]): Generator<[number, number, number]> {
    for (const x of this.#edges[a]!.keys()) {
      for (const y of this.#edges[b]!.keys()) {
        const both = this.#sets[x]! & this.#sets[y]!;
        if (both === 0n) continue;
        for (const z of this.#edges[c]!.keys()) if (both & this.#sets[z]!) yield [x, y, z];
      }
    }
  }

  #reach(from: number, within?: ReadonlySet<number>): ReadonlySet<number> {
    const reached = new Set<number>();
    const queue = [from];
    for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
      for (const next of this.#edges[state]!.keys()) {
        if (reached.has(next) || (within && !within.has(next))) continue;
        reached.add(next);
        queue.push(next);
      }
    }
    return reached;
  }

  #state(set: CharSet): number {
    this.#edges.push(new Map());
    return this.#sets.push(set) - 1;
  }

  #connect(last: Ways, first: Ways, empty = 1): Map<number, number> {
    let edges = new Map<number, number>();
    for (const [from, out] of last) {
      edges = this.#edges[from]!;
      for (const [to, into] of first) edges.set(to, (edges.get(to) ?? 0) + out * into * empty);
    }
    return edges;
  }

  #build(expression: Expression): Fragment {
    switch (expression.type) {
      case 'chars':
        return this.#singleCharacter(expression.set);
      case 'assertion':
        return { ...NOTHING, isFree: false, isEmptyAnywhere: !expression.isStart };
      case 'sequence':
        return expression.parts.reduce((before, part) => this.#then(before, this.#build(part)), NOTHING);
      case 'choice':
        return expression.parts.map((part) => this.#build(part)).reduce(either);
      case 'repeat':
        return this.#repeat(expression);
    }
  }

  #singleCharacter(set: CharSet): Fragment {
    const ways = new Map([[this.#state(set), 1]]);
    return { empty: 0, isFree: false, first: ways, anywhere: ways, isEmptyAnywhere: false, last: ways, free: new Set(ways.keys()) };
  }

  #then(a: Fragment, b: Fragment): Fragment {
    this.#connect(a.last, b.first);
    return {
      empty: a.empty * b.empty,
      isFree: a.isFree && b.isFree,
      first: a.empty > 0 ? sum(a.first, b.first) : a.first,
      anywhere: a.isEmptyAnywhere ? sum(a.anywhere, b.anywhere) : a.anywhere,
      isEmptyAnywhere: a.isEmptyAnywhere && b.isEmptyAnywhere,
      last: b.empty > 0 ? sum(a.last, b.last) : b.last,
      free: b.isFree ? new Set([...a.free, ...b.free]) : b.free,
    };
  }

  #repeat({ body, min, max }: Expression & { type: 'repeat' }): Fragment {
    // Two copies show which states follow each other; more add nothing.
    const copies = Math.min(min, 2);
    const optional = max > MAX_COUNT ? 0 : Math.min(max - min, 2);
    let whole = NOTHING;
    for (let i = 0; i < copies; i++) whole = this.#then(whole, i === copies - 1 && max > MAX_COUNT ? this.#loop(body) : this.#build(body));
    for (let i = 0; i < optional; i++) whole = this.#then(whole, either(NOTHING, this.#build(body)));
    return max > MAX_COUNT && copies === 0 ? either(NOTHING, this.#loop(body)) : whole;
  }

  #loop(body: Expression): Fragment {
    const fragment = this.#build(body);
    this.#connect(fragment.last, fragment.first);
    return fragment;
  }
}

function either(a: Fragment, b: Fragment): Fragment {
  return {
    // Of several ways to match the empty string a matcher tries one.
    empty: Math.min(1, a.empty + b.empty),
    isFree: a.isFree || b.isFree,
    first: sum(a.first, b.first),
    anywhere: sum(a.anywhere, b.anywhere),
    isEmptyAnywhere: a.isEmptyAnywhere || b.isEmptyAnywhere,
    last: sum(a.last, b.last),
    free: new Set([...a.free, ...b.free]),
  };
}
