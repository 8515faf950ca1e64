import type { CharMatcher } from './char-matcher.ts';
import { type Assertion, RegexError, type RegexNode } from './syntax.ts';

/** Instructions of a nondeterministic automaton. */
export const CHAR = 0;
export const SPLIT = 1;
export const ASSERT = 2;
export const MATCH = 3;

const ASSERTIONS: readonly Assertion[] = ['textStart', 'textEnd', 'lineStart', 'lineEnd', 'wordBoundary', 'noWordBoundary'];

// Go refuses programs of more than 128 MiB.
const MAX_INSTRUCTIONS = 3_355_443;

/**
 * A compiled regular expression. For each instruction: its operation, its successor (`next`), and an argument (the less preferred successor of a
 * SPLIT; the matcher of a CHAR; the assertion of an ASSERT).
 */
export interface RegexProgram {
  readonly ops: Uint8Array;
  readonly next: Int32Array;
  readonly args: Int32Array;
  readonly start: number;
  readonly matchers: readonly CharMatcher[];
}

/** Compiles a pattern; counted repetitions are written out. */
export function compileProgram(node: RegexNode, pattern: string): RegexProgram {
  const size = instructionCount(node) + 1;
  if (size > MAX_INSTRUCTIONS) throw new RegexError('expression too large', pattern);
  return new Compiler(size).run(node);
}

function instructionCount(node: RegexNode): number {
  switch (node.op) {
    case 'empty':
      return 0;
    case 'char':
    case 'assert':
      return 1;
    case 'concat':
      return node.nodes.reduce((sum, inner) => sum + instructionCount(inner), 0);
    case 'alternate':
      return node.nodes.reduce((sum, inner) => sum + instructionCount(inner), node.nodes.length - 1);
    case 'repeat': {
      const inner = instructionCount(node.node);
      return node.max < 0 ? Math.max(node.min, 1) * inner + 1 : node.min * inner + (node.max - node.min) * (inner + 1);
    }
  }
}

/** Emits instructions from the end of the pattern to its start, so that the successor is always known. */
class Compiler {
  private readonly ops: Uint8Array;
  private readonly next: Int32Array;
  private readonly args: Int32Array;
  private readonly matchers: CharMatcher[] = [];
  private readonly matcherIds = new Map<CharMatcher, number>();
  private count = 0;

  constructor(size: number) {
    this.ops = new Uint8Array(size);
    this.next = new Int32Array(size);
    this.args = new Int32Array(size);
  }

  run(node: RegexNode): RegexProgram {
    const end = this.emit(MATCH, -1, -1);
    const start = this.compile(node, end);
    return { ops: this.ops, next: this.next, args: this.args, start, matchers: this.matchers };
  }

  private emit(op: number, next: number, arg: number): number {
    const index = this.count++;
    this.ops[index] = op;
    this.next[index] = next;
    this.args[index] = arg;
    return index;
  }

  private compile(node: RegexNode, follow: number): number {
    switch (node.op) {
      case 'empty':
        return follow;
      case 'char':
        return this.emit(CHAR, follow, this.matcherId(node.matcher));
      case 'assert':
        return this.emit(ASSERT, follow, ASSERTIONS.indexOf(node.assertion));
      case 'concat':
        return node.nodes.reduceRight((after, inner) => this.compile(inner, after), follow);
      case 'alternate':
        return this.alternate(node.nodes, follow);
      case 'repeat':
        return this.repeat(node, follow);
    }
  }

  private matcherId(matcher: CharMatcher): number {
    const existing = this.matcherIds.get(matcher);
    if (existing !== undefined) return existing;
    const id = this.matchers.push(matcher) - 1;
    this.matcherIds.set(matcher, id);
    return id;
  }

  private alternate(nodes: readonly RegexNode[], follow: number): number {
    let start = -1;
    for (const node of nodes.toReversed()) {
      const branch = this.compile(node, follow);
      start = start === -1 ? branch : this.emit(SPLIT, branch, start);
    }
    return start;
  }

  private repeat(node: RegexNode & { readonly op: 'repeat' }, follow: number): number {
    let start = node.max < 0 ? this.unbounded(node, follow) : this.optional(node, follow);
    const remaining = node.max < 0 && node.min > 0 ? node.min - 1 : node.min;
    for (let i = 0; i < remaining; i++) start = this.compile(node.node, start);
    return start;
  }

  /** `x*`, or `x+` if at least one is required. */
  private unbounded(node: RegexNode & { readonly op: 'repeat' }, follow: number): number {
    const loop = this.emit(SPLIT, -1, -1);
    const body = this.compile(node.node, loop);
    this.setSplit(loop, { body, follow, greedy: node.greedy });
    return node.min > 0 ? body : loop;
  }

  /** `(x(x(x)?)?)?`, for optional repetitions. */
  private optional(node: RegexNode & { readonly op: 'repeat' }, follow: number): number {
    let start = follow;
    for (let i = node.min; i < node.max; i++) {
      const body = this.compile(node.node, start);
      const split = this.emit(SPLIT, -1, -1);
      this.setSplit(split, { body, follow, greedy: node.greedy });
      start = split;
    }
    return start;
  }

  private setSplit(split: number, ways: { readonly body: number; readonly follow: number; readonly greedy: boolean }): void {
    this.next[split] = ways.greedy ? ways.body : ways.follow;
    this.args[split] = ways.greedy ? ways.follow : ways.body;
  }
}

/** Whether an assertion, by its number, holds between two characters (-1 for none). */
export function assertionHolds(assertion: number, before: number, after: number): boolean {
  switch (ASSERTIONS[assertion]) {
    case 'textStart':
      return before === -1;
    case 'textEnd':
      return after === -1;
    case 'lineStart':
      return before === -1 || before === 10;
    case 'lineEnd':
      return after === -1 || after === 10;
    case 'wordBoundary':
      return isWord(before) !== isWord(after);
    default:
      return isWord(before) === isWord(after);
  }
}

/** Whether the assertions of a program only concern the start and the end of the text. */
export function hasOnlyTextAssertions(program: RegexProgram): boolean {
  for (let i = 0; i < program.ops.length; i++) if (program.ops[i] === ASSERT && (program.args[i] ?? 0) > 1) return false;
  return true;
}

function isWord(codePoint: number): boolean {
  return (
    (codePoint >= 97 && codePoint <= 122) ||
    (codePoint >= 65 && codePoint <= 90) ||
    (codePoint >= 48 && codePoint <= 57) ||
    codePoint === 95
  );
}
