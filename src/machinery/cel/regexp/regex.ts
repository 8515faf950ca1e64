import { LazyDfa } from './lazy-dfa.ts';
import { parseRegex } from './parser.ts';
import { PikeMachine, type Span } from './pike-machine.ts';
import { compileProgram, hasOnlyTextAssertions } from './program.ts';

// Beyond this size DFA states cost more than they save.
const MAX_DFA_INSTRUCTIONS = 4000;

/** A regular expression of RE2's syntax, matched in time linear in the text. */
export class Regex {
  private readonly machine: PikeMachine;
  private readonly dfa: LazyDfa | undefined;

  /** Throws a RegexError, in the words of Go's regexp package, for a pattern that is none. */
  constructor(pattern: string) {
    const program = compileProgram(parseRegex(pattern), pattern);
    this.machine = new PikeMachine(program);
    const suitsDfa = program.ops.length <= MAX_DFA_INSTRUCTIONS && hasOnlyTextAssertions(program);
    this.dfa = suitsDfa ? new LazyDfa(program) : undefined;
  }

  /** Whether the text contains a match. */
  test(text: string): boolean {
    return this.dfa === undefined ? this.machine.find(text, 0) !== undefined : this.dfa.test(text);
  }

  /** The leftmost match, or the empty string. */
  find(text: string): string {
    const span = this.machine.find(text, 0);
    return span === undefined ? '' : text.slice(span.start, span.end);
  }

  /** All matches that do not overlap, at most `limit` of them (all if negative). */
  findAll(text: string, limit: number): readonly string[] {
    const matches: string[] = [];
    let previousEnd = -1;
    for (let position = 0; position <= text.length && (limit < 0 || matches.length < limit); ) {
      const span = this.machine.find(text, position);
      if (span === undefined) break;
      const isRepeated = isEmptyAt(span, position) && span.start === previousEnd;
      position = isEmptyAt(span, position) ? position + characterWidth(text, position) : span.end;
      previousEnd = span.end;
      if (!isRepeated) matches.push(text.slice(span.start, span.end));
    }
    return matches;
  }
}

function isEmptyAt(span: Span, position: number): boolean {
  return span.end === position;
}

function characterWidth(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
}
