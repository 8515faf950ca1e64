import { ASSERT, CHAR, MATCH, type RegexProgram, SPLIT } from './program.ts';

const MAX_STATES = 1000;
const MAX_SYMBOLS = 4000;

/** A set of instructions that the automaton may be at, and where each kind of character leads. */
interface State {
  readonly instructions: Int32Array;
  readonly isMatch: boolean;
  readonly next: (State | undefined)[];
}

/**
 * Decides whether a text contains a match, with a DFA built lazily. For programs whose assertions only concern the start and end of the text.
 * Characters that the pattern does not distinguish are one symbol. States are bounded: past the limit the cache is cleared.
 */
export class LazyDfa {
  private readonly program: RegexProgram;
  private readonly symbolIds = new Map<string, number>();
  private readonly samples: number[] = [];
  private readonly asciiSymbols = new Int16Array(128).fill(-1);
  private readonly otherSymbols = new Map<number, number>();
  private states = new Map<string, State>();
  private initial: State | undefined;

  constructor(program: RegexProgram) {
    this.program = program;
  }

  test(text: string): boolean {
    let state = this.initial ?? this.start();
    for (let i = 0; i < text.length; i++) {
      if (state.isMatch) return true;
      const unit = text.charCodeAt(i);
      let symbol = unit < 128 ? (this.asciiSymbols[unit] ?? -1) : -1;
      if (symbol === -1) {
        const codePoint = text.codePointAt(i) ?? unit;
        symbol = this.symbolOf(codePoint);
        if (codePoint > 0xffff) i++;
      }
      state = state.next[symbol] ?? this.step(state, symbol);
    }
    return state.isMatch || this.matchesAtEnd(state, text.length === 0);
  }

  private start(): State {
    const instructions = this.closure([this.program.start], { atStart: true, atEnd: false });
    this.initial = this.intern(instructions);
    return this.initial;
  }

  private step(state: State, symbol: number): State {
    const { ops, next, args, matchers } = this.program;
    const codePoint = this.samples[symbol] ?? 0;
    const reached: number[] = [];
    for (const instruction of state.instructions) {
      if (ops[instruction] !== CHAR) continue;
      if (matchers[args[instruction] ?? 0]?.matches(codePoint) === true) reached.push(next[instruction] ?? 0);
    }
    // A match may start at any position.
    reached.push(this.program.start);
    const target = this.intern(this.closure(reached, { atStart: false, atEnd: false }));
    state.next[symbol] = target;
    return target;
  }

  private intern(instructions: Int32Array): State {
    const key = instructions.join();
    const existing = this.states.get(key);
    if (existing !== undefined) return existing;
    if (this.states.size >= MAX_STATES) {
      this.states = new Map();
      this.initial = undefined;
    }
    const isMatch = instructions.some((instruction) => this.program.ops[instruction] === MATCH);
    const state: State = { instructions, isMatch, next: [] };
    this.states.set(key, state);
    return state;
  }

  /** The instructions reachable without reading, in ascending order. */
  private closure(from: readonly number[], place: { readonly atStart: boolean; readonly atEnd: boolean }): Int32Array {
    const { ops, next, args } = this.program;
    const reached = new Set<number>();
    const stack = [...from];
    while (stack.length > 0) {
      const at = stack.pop() ?? 0;
      if (reached.has(at)) continue;
      reached.add(at);
      if (ops[at] === SPLIT) stack.push(args[at] ?? 0, next[at] ?? 0);
      else if (ops[at] === ASSERT && (args[at] === 0 ? place.atStart : place.atEnd)) stack.push(next[at] ?? 0);
    }
    return Int32Array.from(reached).sort();
  }

  private matchesAtEnd(state: State, atStart: boolean): boolean {
    const reached = this.closure([...state.instructions], { atStart, atEnd: true });
    return reached.some((instruction) => this.program.ops[instruction] === MATCH);
  }

  private symbolOf(codePoint: number): number {
    const cached = codePoint < 128 ? this.asciiSymbols[codePoint] : this.otherSymbols.get(codePoint);
    if (cached !== undefined && cached !== -1) return cached;
    const signature = this.program.matchers.map((matcher) => (matcher.matches(codePoint) ? '1' : '0')).join('');
    let symbol = this.symbolIds.get(signature);
    if (symbol === undefined) {
      symbol = this.samples.push(codePoint) - 1;
      this.symbolIds.set(signature, symbol);
    }
    if (codePoint < 128) this.asciiSymbols[codePoint] = symbol;
    else if (this.otherSymbols.size < MAX_SYMBOLS) this.otherSymbols.set(codePoint, symbol);
    return symbol;
  }
}
