import { type Issue, NO_LOCATION, type Source } from './source.ts';

/** Kinds of tokens, by the names that syntax errors print. */
export type TokenType =
  | '=='
  | '!='
  | 'in'
  | '<'
  | '<='
  | '>='
  | '>'
  | '&&'
  | '||'
  | '['
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | '.'
  | ','
  | '-'
  | '!'
  | '?'
  | ':'
  | '+'
  | '*'
  | '/'
  | '%'
  | 'true'
  | 'false'
  | 'null'
  | 'NUM_FLOAT'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'STRING'
  | 'BYTES'
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | '<EOF>';

export interface Token {
  readonly type: TokenType;
  readonly text: string;
  /** Where it starts, in characters. */
  readonly offset: number;
}

export interface LexResult {
  readonly tokens: readonly Token[];
  readonly issues: readonly Issue[];
  /** Offsets of the characters that are in no token. */
  readonly unrecognized: ReadonlySet<number>;
}

const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);
const TWO_CHARACTER_OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '&&', '||']);
const ONE_CHARACTER_OPERATORS: ReadonlySet<string> = new Set('<>[]{}().,-!?:+*/%');
const DIGIT = /[0-9]/;
const HEX_DIGIT = /[0-9a-fA-F]/;
const LETTER = /[A-Za-z_]/;
const WORD = /[A-Za-z0-9_]/;
const ESCAPED_WORD = /[A-Za-z0-9_./ -]/;
const SPACE = /[\t \r\n\f]/;
const SIMPLE_ESCAPES = /[abfnrtv"'\\?`]/;

/** Splits an expression into tokens. Invalid characters are reported and skipped, as by upstream's lexer. */
export function tokenize(source: Source): LexResult {
  return new Lexer(source).run();
}

/** A scan that failed: the index of the character that fitted no token. */
class Stuck {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

class Lexer {
  private readonly source: Source;
  private readonly chars: readonly string[];
  private readonly tokens: Token[] = [];
  private readonly issues: Issue[] = [];
  private readonly unrecognized = new Set<number>();
  private position = 0;

  constructor(source: Source) {
    this.source = source;
    this.chars = source.characters;
  }

  run(): LexResult {
    while (this.position < this.chars.length) this.next();
    this.tokens.push({ type: '<EOF>', text: '<EOF>', offset: this.chars.length });
    return { tokens: this.tokens, issues: this.issues, unrecognized: this.unrecognized };
  }

  private next(): void {
    if (this.skipBlank()) return;
    const start = this.position;
    const scanned = this.scan(start);
    if (scanned instanceof Stuck) {
      this.reportStuck(start, scanned.index);
      this.position = scanned.index + 1;
      return;
    }
    const text = this.chars.slice(start, scanned.end).join('');
    this.tokens.push({ type: scanned.type, text, offset: start });
    this.position = scanned.end;
  }

  private skipBlank(): boolean {
    const start = this.position;
    while (SPACE.test(this.at(this.position))) this.position++;
    if (this.at(this.position) === '/' && this.at(this.position + 1) === '/') {
      while (this.position < this.chars.length && this.at(this.position) !== '\n') this.position++;
    }
    return this.position > start;
  }

  private at(index: number): string {
    return this.chars[index] ?? '';
  }

  private scan(start: number): { readonly type: TokenType; readonly end: number } | Stuck {
    const char = this.at(start);
    if (char === '"' || char === "'") return this.scanQuoted(start, { raw: false, type: 'STRING', from: start });
    if (LETTER.test(char)) return this.scanWord(start);
    if (DIGIT.test(char) || (char === '.' && DIGIT.test(this.at(start + 1)))) return this.scanNumber(start);
    if (char === '`') return this.scanEscapedIdentifier(start);
    const pair = char + this.at(start + 1);
    if (TWO_CHARACTER_OPERATORS.has(pair)) return { type: pair as TokenType, end: start + 2 };
    if (ONE_CHARACTER_OPERATORS.has(char)) return { type: char as TokenType, end: start + 1 };
    return new Stuck('=&|'.includes(char) ? start + 1 : start);
  }

  /** A word, unless it is the prefix of a string: r"…", b'…', br"…". */
  private scanWord(start: number): { readonly type: TokenType; readonly end: number } {
    const prefix = /^[bB]?[rR]?(?=["'])/.exec(this.at(start) + this.at(start + 1) + this.at(start + 2))?.[0] ?? '';
    if (prefix !== '') {
      const raw = /[rR]/.test(prefix);
      const type = /^[bB]/.test(prefix) ? 'BYTES' : 'STRING';
      const quoted = this.scanQuoted(start + prefix.length, { raw, type, from: start });
      if (!(quoted instanceof Stuck)) return quoted;
    }
    let end = start + 1;
    while (WORD.test(this.at(end))) end++;
    const word = this.chars.slice(start, end).join('');
    return { type: KEYWORDS.has(word) ? (word as TokenType) : 'IDENTIFIER', end };
  }

  private scanQuoted(
    start: number,
    options: { readonly raw: boolean; readonly type: 'STRING' | 'BYTES'; readonly from: number },
  ): { readonly type: TokenType; readonly end: number } | Stuck {
    const quote = this.at(start);
    const triple = this.at(start + 1) === quote && this.at(start + 2) === quote;
    if (triple) {
      const end = this.scanTriple(start + 3, quote, options.raw);
      // An unterminated long string is read as an empty string first.
      return { type: options.type, end: end ?? start + 2 };
    }
    let i = start + 1;
    while (this.at(i) !== quote) {
      const step = this.stringCharacter(i, options.raw);
      if (step instanceof Stuck) return step;
      if (this.at(i) === '\n' || this.at(i) === '\r') return new Stuck(i);
      i = step;
    }
    return { type: options.type, end: i + 1 };
  }

  private scanTriple(start: number, quote: string, raw: boolean): number | undefined {
    let i = start;
    while (!(this.at(i) === quote && this.at(i + 1) === quote && this.at(i + 2) === quote)) {
      const step = this.stringCharacter(i, raw);
      if (step instanceof Stuck) return undefined;
      i = step;
    }
    return i + 3;
  }

  /** The index after the character or escape at i. */
  private stringCharacter(i: number, raw: boolean): number | Stuck {
    if (i >= this.chars.length) return new Stuck(i);
    return raw || this.at(i) !== '\\' ? i + 1 : this.escape(i + 1);
  }

  private escape(i: number): number | Stuck {
    const char = this.at(i);
    if (char === '') return new Stuck(i);
    if (SIMPLE_ESCAPES.test(char)) return i + 1;
    if (char === 'x' || char === 'X') return this.repeated(i + 1, HEX_DIGIT, 2);
    if (char === 'u') return this.repeated(i + 1, HEX_DIGIT, 4);
    if (char === 'U') return this.repeated(i + 1, HEX_DIGIT, 8);
    return /[0-3]/.test(char) ? this.repeated(i + 1, /[0-7]/, 2) : new Stuck(i);
  }

  private repeated(start: number, digit: RegExp, count: number): number | Stuck {
    for (let i = start; i < start + count; i++) if (!digit.test(this.at(i))) return new Stuck(i);
    return start + count;
  }

  private scanNumber(start: number): { readonly type: TokenType; readonly end: number } {
    const digits = this.digitsFrom(start, DIGIT);
    if (this.at(start) === '0' && this.at(start + 1) === 'x' && HEX_DIGIT.test(this.at(start + 2))) {
      return this.withUnsigned(this.digitsFrom(start + 2, HEX_DIGIT));
    }
    let end = digits;
    if (this.at(end) === '.' && DIGIT.test(this.at(end + 1))) end = this.digitsFrom(end + 1, DIGIT);
    end = this.exponentFrom(end);
    return end > digits ? { type: 'NUM_FLOAT', end } : this.withUnsigned(digits);
  }

  private withUnsigned(end: number): { readonly type: TokenType; readonly end: number } {
    return /[uU]/.test(this.at(end)) ? { type: 'NUM_UINT', end: end + 1 } : { type: 'NUM_INT', end };
  }

  private digitsFrom(start: number, digit: RegExp): number {
    let i = start;
    while (digit.test(this.at(i))) i++;
    return i;
  }

  private exponentFrom(start: number): number {
    if (!/[eE]/.test(this.at(start))) return start;
    const digits = /[+-]/.test(this.at(start + 1)) ? start + 2 : start + 1;
    return DIGIT.test(this.at(digits)) ? this.digitsFrom(digits, DIGIT) : start;
  }

  private scanEscapedIdentifier(start: number): { readonly type: TokenType; readonly end: number } | Stuck {
    const end = this.digitsFrom(start + 1, ESCAPED_WORD);
    return this.at(end) === '`' && end > start + 1 ? { type: 'ESC_IDENTIFIER', end: end + 1 } : new Stuck(end);
  }

  private reportStuck(start: number, index: number): void {
    const text = this.chars
      .slice(start, index + 1)
      .join('')
      .replace(/\n/g, '\\n')
      .replace(/\t/g, '\\t')
      .replace(/\r/g, '\\r');
    for (let i = start; i <= index; i++) this.unrecognized.add(i);
    const location = this.source.locationOf(start) ?? NO_LOCATION;
    this.issues.push({ message: `Syntax error: token recognition error at: '${text}'`, location });
  }
}
