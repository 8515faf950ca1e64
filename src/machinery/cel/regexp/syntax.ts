import type { CharMatcher } from './char-matcher.ts';

/** A parsed regular expression. Groups are not recorded: only the bounds of a match are needed. */
export type RegexNode =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly matcher: CharMatcher }
  | { readonly op: 'assert'; readonly assertion: Assertion }
  | { readonly op: 'concat' | 'alternate'; readonly nodes: readonly RegexNode[] }
  | {
      readonly op: 'repeat';
      readonly node: RegexNode;
      readonly min: number;
      /** -1 for no upper bound. */
      readonly max: number;
      readonly greedy: boolean;
    };

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordBoundary' | 'noWordBoundary';

/** A pattern that is no regular expression, in the words of Go's regexp package. */
export class RegexError extends Error {
  constructor(problem: string, part: string) {
    super(`error parsing regexp: ${problem}: \`${part}\``);
    this.name = 'RegexError';
  }
}
