import { ASSERT, assertionHolds, CHAR, MATCH, type RegexProgram, SPLIT } from './program.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Threads of the automaton in order of preference: the instruction each waits at and where its match started. */
class Threads {
  readonly instructions: Int32Array;
  readonly starts: Int32Array;
  size = 0;
  private readonly positions: Int32Array;

  constructor(capacity: number) {
    this.instructions = new Int32Array(capacity);
    this.starts = new Int32Array(capacity);
    this.positions = new Int32Array(capacity);
  }

  has(instruction: number): boolean {
    const position = this.positions[instruction] ?? 0;
    return position < this.size && this.instructions[position] === instruction;
  }

  add(instruction: number, start: number): void {
    this.positions[instruction] = this.size;
    this.instructions[this.size] = instruction;
    this.starts[this.size] = start;
    this.size++;
  }
}

/** Finds the leftmost match with Perl's preferences, running all threads in lockstep: time is linear in text length times pattern size. */
export class PikeMachine {
  private readonly program: RegexProgram;

  constructor(program: RegexProgram) {
    this.program = program;
  }

  find(text: string, from: number): Span | undefined {
    const capacity = this.program.ops.length;
    const stack: number[] = [];
    let current = new Threads(capacity);
    let following = new Threads(capacity);
    let match: Span | undefined;
    let before = from === 0 ? -1 : previousCodePoint(text, from);
    for (let position = from; ; ) {
      const after = position < text.length ? (text.codePointAt(position) ?? -1) : -1;
      if (match === undefined) this.follow({ threads: current, stack, before, after }, this.program.start, position);
      if (current.size === 0) return match;
      const width = after > 0xffff ? 2 : 1;
      const next = after === -1 || position + width >= text.length ? -1 : (text.codePointAt(position + width) ?? -1);
      following.size = 0;
      match = this.advance({ current, following, stack, position, after, next, width }) ?? match;
      if (after === -1) return match;
      [current, following] = [following, current];
      before = after;
      position += width;
    }
  }

  /** Advances every thread by one character. Returns the match of the first thread that has one; later ones are dropped. */
  private advance(step: Step): Span | undefined {
    const { ops, next, args, matchers } = this.program;
    const { current, following, after } = step;
    const context = { threads: following, stack: step.stack, before: after, after: step.next };
    for (let i = 0; i < current.size; i++) {
      const instruction = current.instructions[i] ?? 0;
      const start = current.starts[i] ?? 0;
      if (ops[instruction] === MATCH) return { start, end: step.position };
      if (ops[instruction] !== CHAR || after === -1) continue;
      if (matchers[args[instruction] ?? 0]?.matches(after) === true) this.follow(context, next[instruction] ?? 0, start);
    }
    return undefined;
  }

  /** Adds a thread at an instruction and at all that it reaches without reading, most preferred first. */
  private follow(context: Context, instruction: number, start: number): void {
    const { ops, next, args } = this.program;
    const { threads, stack } = context;
    stack.push(instruction);
    while (stack.length > 0) {
      const at = stack.pop() ?? 0;
      if (threads.has(at)) continue;
      threads.add(at, start);
      if (ops[at] === SPLIT) stack.push(args[at] ?? 0, next[at] ?? 0);
      else if (ops[at] === ASSERT && assertionHolds(args[at] ?? 0, context.before, context.after)) stack.push(next[at] ?? 0);
    }
  }
}

interface Context {
  readonly threads: Threads;
  readonly stack: number[];
  readonly before: number;
  readonly after: number;
}

interface Step {
  readonly current: Threads;
  readonly following: Threads;
  readonly stack: number[];
  readonly position: number;
  readonly after: number;
  readonly next: number;
  readonly width: number;
}

function previousCodePoint(text: string, position: number): number {
  const unit = text.charCodeAt(position - 1);
  const isPair = unit >= 0xdc00 && unit < 0xe000 && position >= 2 && (text.codePointAt(position - 2) ?? 0) > 0xffff;
  return isPair ? (text.codePointAt(position - 2) ?? -1) : unit;
}
