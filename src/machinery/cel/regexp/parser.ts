import { lookupTable } from '#base';
import {
  ANY_BUT_NEWLINE,
  ANY_CHARACTER,
  type CharMatcher,
  type ClassItem,
  classMatcher,
  literalMatcher,
  unicodeProperty,
} from './char-matcher.ts';
import { type Assertion, RegexError, type RegexNode } from './syntax.ts';

const MAX_REPEAT = 1000;
const MAX_NESTING = 1000;
const MAX_CODE_POINT = 0x10ffff;

interface Flags {
  readonly foldCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
  readonly ungreedy: boolean;
}

const NO_FLAGS: Flags = { foldCase: false, multiLine: false, dotAll: false, ungreedy: false };

/** Parses the syntax of Go's regexp package (that of RE2). Throws a RegexError in its words. */
export function parseRegex(pattern: string): RegexNode {
  return new RegexParser(pattern).parse();
}

interface Group {
  readonly outerFlags: Flags;
  readonly alternatives: RegexNode[];
  items: RegexNode[];
}

type Range = { readonly low: number; readonly high: number };

const DIGITS: readonly Range[] = [{ low: 48, high: 57 }];
const SPACES: readonly Range[] = [
  { low: 9, high: 10 },
  { low: 12, high: 13 },
  { low: 32, high: 32 },
];
const UPPER: Range = { low: 65, high: 90 };
const LOWER: Range = { low: 97, high: 122 };
const WORDS: readonly Range[] = [...DIGITS, UPPER, LOWER, { low: 95, high: 95 }];
const PERL_CLASSES = lookupTable<readonly Range[]>({ d: DIGITS, s: SPACES, w: WORDS });
const POSIX_CLASSES: ReadonlyMap<string, readonly Range[]> = new Map([
  ['alnum', [...DIGITS, UPPER, LOWER]],
  ['alpha', [UPPER, LOWER]],
  ['ascii', [{ low: 0, high: 127 }]],
  [
    'blank',
    [
      { low: 9, high: 9 },
      { low: 32, high: 32 },
    ],
  ],
  [
    'cntrl',
    [
      { low: 0, high: 31 },
      { low: 127, high: 127 },
    ],
  ],
  ['digit', DIGITS],
  ['graph', [{ low: 33, high: 126 }]],
  ['lower', [LOWER]],
  ['print', [{ low: 32, high: 126 }]],
  [
    'punct',
    [
      { low: 33, high: 47 },
      { low: 58, high: 64 },
      { low: 91, high: 96 },
      { low: 123, high: 126 },
    ],
  ],
  [
    'space',
    [
      { low: 9, high: 13 },
      { low: 32, high: 32 },
    ],
  ],
  ['upper', [UPPER]],
  ['word', WORDS],
  ['xdigit', [...DIGITS, { low: 65, high: 70 }, { low: 97, high: 102 }]],
]);
const ESCAPED_ASSERTIONS = lookupTable<Assertion>({ A: 'textStart', z: 'textEnd', b: 'wordBoundary', B: 'noWordBoundary' });
const CONTROL_ESCAPES = lookupTable<number>({ a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 });

// One file: the productions of the grammar call each other.
class RegexParser {
  private readonly pattern: string;
  private readonly groups: Group[] = [];
  private position = 0;
  private flags: Flags = NO_FLAGS;

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  parse(): RegexNode {
    this.groups.push(this.newGroup());
    let lastRepeat: number | undefined;
    while (this.position < this.pattern.length) lastRepeat = this.step(lastRepeat);
    if (this.groups.length > 1) throw new RegexError('missing closing )', this.pattern);
    return finish(this.group);
  }

  private newGroup(): Group {
    return { outerFlags: this.flags, alternatives: [], items: [] };
  }

  private get group(): Group {
    const group = this.groups.at(-1);
    if (group === undefined) throw new RegexError('unexpected )', this.pattern);
    return group;
  }

  private get char(): string {
    return this.pattern[this.position] ?? '';
  }

  /** Parses one element; returns its start if it was a repetition. */
  private step(lastRepeat: number | undefined): number | undefined {
    const start = this.position;
    switch (this.char) {
      case '*':
        return this.repetition(start, { min: 0, max: -1 }, lastRepeat);
      case '+':
        return this.repetition(start, { min: 1, max: -1 }, lastRepeat);
      case '?':
        return this.repetition(start, { min: 0, max: 1 }, lastRepeat);
      case '{':
        return this.counted(start, lastRepeat);
      default:
        this.element();
        return undefined;
    }
  }

  private element(): void {
    switch (this.char) {
      case '(':
        this.openGroup();
        break;
      case ')':
        this.closeGroup();
        break;
      case '|':
        this.position++;
        this.group.alternatives.push(concat(this.group.items));
        this.group.items = [];
        break;
      case '[':
        this.pushMatcher(this.characterClass());
        break;
      case '.':
        this.position++;
        this.pushMatcher(this.flags.dotAll ? ANY_CHARACTER : ANY_BUT_NEWLINE);
        break;
      case '^':
        this.pushAssertion(this.flags.multiLine ? 'lineStart' : 'textStart', 1);
        break;
      case '$':
        this.pushAssertion(this.flags.multiLine ? 'lineEnd' : 'textEnd', 1);
        break;
      case '\\':
        this.escaped();
        break;
      default:
        this.pushMatcher(literalMatcher(this.rune(), this.flags.foldCase));
    }
  }

  private rune(): number {
    const codePoint = this.pattern.codePointAt(this.position) ?? 0;
    this.position += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  private push(node: RegexNode): void {
    this.group.items.push(node);
  }

  private pushMatcher(matcher: CharMatcher): void {
    this.push({ op: 'char', matcher });
  }

  private pushAssertion(assertion: Assertion, width: number): void {
    this.position += width;
    this.push({ op: 'assert', assertion });
  }

  private counted(start: number, lastRepeat: number | undefined): number | undefined {
    const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.pattern.slice(start, start + 32));
    const min = decimal(match?.[1]);
    const max = match?.[2] === undefined ? min : match[3] === '' ? -1 : decimal(match[3]);
    if (match === null || min === undefined || max === undefined) {
      this.pushMatcher(literalMatcher(this.rune(), false));
      return undefined;
    }
    if (min > MAX_REPEAT || max > MAX_REPEAT || (max >= 0 && min > max)) throw new RegexError('invalid repeat count', match[0]);
    this.position += match[0].length - 1;
    return this.repetition(start, { min, max }, lastRepeat);
  }

  private repetition(start: number, bounds: { readonly min: number; readonly max: number }, lastRepeat: number | undefined): number {
    this.position++;
    const lazy = this.char === '?';
    if (lazy) this.position++;
    if (lastRepeat !== undefined) {
      throw new RegexError('invalid nested repetition operator', this.pattern.slice(lastRepeat, this.position));
    }
    const node = this.group.items.pop();
    if (node === undefined) throw new RegexError('missing argument to repetition operator', this.pattern.slice(start, this.position));
    const repeated: RegexNode = { op: 'repeat', node, ...bounds, greedy: lazy === this.flags.ungreedy };
    if ((bounds.min >= 2 || bounds.max >= 2) && !isRepeatValid(repeated, MAX_REPEAT)) {
      throw new RegexError('invalid repeat count', this.pattern.slice(start, this.position));
    }
    this.push(repeated);
    return start;
  }

  private openGroup(): void {
    if (this.groups.length > MAX_NESTING) throw new RegexError('expression nests too deeply', this.pattern);
    if (this.pattern[this.position + 1] === '?') {
      this.perlGroup();
      return;
    }
    this.position++;
    this.groups.push(this.newGroup());
  }

  /** `(?:…)`, `(?i)`, `(?i:…)`, `(?P<name>…)`, `(?<name>…)`. */
  private perlGroup(): void {
    const rest = this.pattern.slice(this.position);
    if (rest.startsWith('(?P<') || rest.startsWith('(?<')) {
      this.namedGroup(rest);
      return;
    }
    const outer = this.flags;
    let i = 2;
    let negative = false;
    let sawFlag = false;
    for (; i < rest.length; i++) {
      const char = rest[i] ?? '';
      if (char === ':' || char === ')') {
        if (negative && !sawFlag) break;
        this.position += i + 1;
        if (char === ':') this.groups.push({ ...this.newGroup(), outerFlags: outer });
        return;
      }
      if (char === '-') {
        if (negative) break;
        negative = true;
        sawFlag = false;
        continue;
      }
      if (!'imsU'.includes(char)) break;
      this.flags = withFlag(this.flags, char, !negative);
      sawFlag = true;
    }
    throw new RegexError('invalid or unsupported Perl syntax', rest.slice(0, i + 1));
  }

  private namedGroup(rest: string): void {
    const prefix = rest.startsWith('(?P<') ? 4 : 3;
    const end = rest.indexOf('>');
    // A look-behind starts like a named group.
    if (prefix === 3 && /^\(\?<[=!]/.test(rest)) throw new RegexError('invalid or unsupported Perl syntax', rest.slice(0, 4));
    if (end < 0) throw new RegexError('invalid named capture', rest);
    if (!/^[A-Za-z0-9_]+$/.test(rest.slice(prefix, end))) throw new RegexError('invalid named capture', rest.slice(0, end + 1));
    this.position += end + 1;
    this.groups.push(this.newGroup());
  }

  private closeGroup(): void {
    if (this.groups.length < 2) throw new RegexError('unexpected )', this.pattern);
    const group = this.groups.pop();
    this.position++;
    if (group === undefined) return;
    this.flags = group.outerFlags;
    this.push(finish(group));
  }

  private escaped(): void {
    const next = this.pattern[this.position + 1] ?? '';
    const assertion = ESCAPED_ASSERTIONS[next];
    if (assertion !== undefined) this.pushAssertion(assertion, 2);
    else if (next === 'Q') this.quoted();
    else this.escapedCharacters();
  }

  private escapedCharacters(): void {
    const { foldCase } = this.flags;
    const item = this.classEscape();
    if (item !== undefined) this.pushMatcher(classMatcher([item], { foldCase, negated: false }));
    else this.pushMatcher(literalMatcher(this.characterEscape(), foldCase));
  }

  /** `\Q…\E`: literal text. */
  private quoted(): void {
    const end = this.pattern.indexOf('\\E', this.position + 2);
    const text = this.pattern.slice(this.position + 2, end < 0 ? undefined : end);
    for (const char of text) this.pushMatcher(literalMatcher(char.codePointAt(0) ?? 0, this.flags.foldCase));
    this.position = end < 0 ? this.pattern.length : end + 2;
  }

  /** A class that an escape stands for: `\d`, `\pL`, `\p{Greek}`; undefined if the escape is a character. */
  private classEscape(): ClassItem | undefined {
    const letter = this.pattern[this.position + 1] ?? '';
    const perl = PERL_CLASSES[letter.toLowerCase()];
    if (perl !== undefined) {
      this.position += 2;
      return { ranges: perl, negated: letter !== letter.toLowerCase() };
    }
    return letter === 'p' || letter === 'P' ? this.propertyEscape(letter === 'P') : undefined;
  }

  private propertyEscape(negated: boolean): ClassItem {
    const rest = this.pattern.slice(this.position, this.position + 64);
    const braced = /^\\[pP]\{(\^?)([^}]*)\}/.exec(rest);
    const short = /^\\[pP]([\s\S])/u.exec(rest);
    if (braced === null && (short === null || short[1] === '{'))
      throw new RegexError('invalid character class range', this.pattern.slice(this.position));
    const text = braced?.[0] ?? short?.[0] ?? '';
    const property = unicodeProperty(braced?.[2] ?? short?.[1] ?? '');
    if (property === undefined) throw new RegexError('invalid character class range', text);
    this.position += text.length;
    return { property, negated: negated !== (braced?.[1] === '^') };
  }

  /** The character that an escape stands for. */
  private characterEscape(): number {
    const start = this.position;
    const letter = this.pattern[start + 1];
    if (letter === undefined) throw new RegexError('trailing backslash at end of expression', '');
    const control = CONTROL_ESCAPES[letter];
    if (control !== undefined) {
      this.position += 2;
      return control;
    }
    const numeric = this.numericEscape(letter);
    if (numeric !== undefined) return numeric;
    this.position++;
    const codePoint = this.rune();
    if (codePoint < 0x80 && !/[A-Za-z0-9]/.test(letter)) return codePoint;
    throw new RegexError('invalid escape sequence', this.pattern.slice(start, this.position));
  }

  private numericEscape(letter: string): number | undefined {
    const rest = this.pattern.slice(this.position, this.position + 16);
    const octal = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    if (octal !== null) {
      this.position += octal[0].length;
      return Number.parseInt(octal[0].slice(1), 8);
    }
    return letter === 'x' ? this.hexEscape(rest) : undefined;
  }

  private hexEscape(rest: string): number {
    const match = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest);
    const codePoint = match === null ? undefined : Number.parseInt(match[1] ?? match[2] ?? '', 16);
    if (match === null || codePoint === undefined || codePoint > MAX_CODE_POINT) {
      const sequence = /^\\x(?:\{[0-9A-Fa-f]*[^}]?\}?|[0-9A-Fa-f]?[\s\S]?)/u.exec(rest)?.[0] ?? rest;
      throw new RegexError('invalid escape sequence', sequence);
    }
    this.position += match[0].length;
    return codePoint;
  }

  private characterClass(): CharMatcher {
    const start = this.position;
    this.position++;
    const negated = this.char === '^';
    if (negated) this.position++;
    const items: ClassItem[] = [];
    for (let isFirst = true; this.char !== ']' || isFirst; isFirst = false) {
      if (this.position >= this.pattern.length) throw new RegexError('missing closing ]', this.pattern.slice(start));
      items.push(this.classItem(start));
    }
    this.position++;
    return classMatcher(items, { foldCase: this.flags.foldCase, negated });
  }

  private classItem(classStart: number): ClassItem {
    const named = this.posixClass();
    if (named !== undefined) return named;
    const escaped = this.char === '\\' ? this.classEscape() : undefined;
    return escaped ?? this.classRange(classStart);
  }

  /** `[:alpha:]`, within a class. */
  private posixClass(): ClassItem | undefined {
    if (this.char !== '[' || this.pattern[this.position + 1] !== ':') return undefined;
    const end = this.pattern.indexOf(':]', this.position + 2);
    if (end < 0) return undefined;
    const text = this.pattern.slice(this.position, end + 2);
    const negated = text[2] === '^';
    const ranges = POSIX_CLASSES.get(text.slice(negated ? 3 : 2, -2));
    if (ranges === undefined) throw new RegexError('invalid character class range', text);
    this.position = end + 2;
    return { ranges, negated };
  }

  private classRange(classStart: number): ClassItem {
    const start = this.position;
    const low = this.classCharacter(classStart);
    if (this.char !== '-' || (this.pattern[this.position + 1] ?? ']') === ']') return { low, high: low };
    this.position++;
    const high = this.classCharacter(classStart);
    if (high < low) throw new RegexError('invalid character class range', this.pattern.slice(start, this.position));
    return { low, high };
  }

  private classCharacter(classStart: number): number {
    if (this.position >= this.pattern.length) throw new RegexError('missing closing ]', this.pattern.slice(classStart));
    return this.char === '\\' ? this.characterEscape() : this.rune();
  }
}

function decimal(text: string | undefined): number | undefined {
  // Go does not parse numbers with leading zeros or very long ones; they are literal text.
  if (text === undefined || text === '' || (text.length > 1 && text.startsWith('0'))) return undefined;
  return text.length >= 9 ? MAX_REPEAT + 1 : Number(text);
}

function withFlag(flags: Flags, letter: string, value: boolean): Flags {
  switch (letter) {
    case 'i':
      return { ...flags, foldCase: value };
    case 'm':
      return { ...flags, multiLine: value };
    case 's':
      return { ...flags, dotAll: value };
    default:
      return { ...flags, ungreedy: value };
  }
}

function finish(group: Group): RegexNode {
  const last = concat(group.items);
  return group.alternatives.length === 0 ? last : { op: 'alternate', nodes: [...group.alternatives, last] };
}

function concat(items: readonly RegexNode[]): RegexNode {
  if (items.length === 0) return { op: 'empty' };
  return items.length === 1 && items[0] !== undefined ? items[0] : { op: 'concat', nodes: items };
}

/** Whether nested repetitions stay within the total bound: `(a{100}){100}` does not. */
function isRepeatValid(node: RegexNode, budget: number): boolean {
  if (node.op === 'concat' || node.op === 'alternate') return node.nodes.every((inner) => isRepeatValid(inner, budget));
  if (node.op !== 'repeat') return true;
  const isCounted = node.min >= 2 || node.max >= 2;
  if (!isCounted) return isRepeatValid(node.node, budget);
  const count = node.max < 0 ? node.min : node.max;
  if (count > budget) return false;
  return isRepeatValid(node.node, Math.floor(budget / count));
}
