/** The characters that a part of an expression matches: a bit for each ASCII character, and some for classes of others. */
export type CharSet = bigint;

export type Expression =
  | { readonly type: 'chars'; readonly set: CharSet }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly Expression[] }
  | { readonly type: 'repeat'; readonly body: Expression; readonly min: number; readonly max: number }
  /** Matches no character: `^`, `$`, `\b`, lookaround. */
  | { readonly type: 'assertion'; readonly isStart: boolean; readonly body?: Expression };

const ASCII = 128;
/** Non-ASCII letters, symbols, space and others. A single non-ASCII character counts as its whole class. */
const BEYOND = [128, 129, 130, 131] as const;
const [LETTER, SYMBOL, SPACE] = BEYOND;
const bit = (index: number): CharSet => 1n << BigInt(index);
export const ALL: CharSet = bit(ASCII + BEYOND.length) - 1n;
const ALL_BEYOND = ALL & ~(bit(ASCII) - 1n);

function range(from: number, to: number): CharSet {
  let set = to >= ASCII ? ALL_BEYOND : 0n;
  for (let code = from; code <= Math.min(to, ASCII - 1); code++) set |= bit(code);
  return set;
}

const setOf = (text: string): CharSet => Array.from(text).reduce((set, char) => set | bit(char.charCodeAt(0)), 0n);
const DIGITS = range(0x30, 0x39);
const LETTERS = range(0x41, 0x5a) | range(0x61, 0x7a);
const WORD = DIGITS | LETTERS | setOf('_');
const SPACES = setOf('\t\n\v\f\r ') | bit(SPACE);
const LINE_ENDS = setOf('\n\r');
const CLASSES: Readonly<Record<string, CharSet>> = { d: DIGITS, w: WORD, s: SPACES };
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', v: '\v', f: '\f', r: '\r', 0: '\0' };

function propertySet(name: string): CharSet {
  if (/^(L|Letter|Lu|Ll|Alphabetic)$/.test(name)) return LETTERS | bit(LETTER);
  if (/^(N|Nd)$/.test(name)) return DIGITS | ALL_BEYOND;
  if (/^S[cmko]?$/.test(name)) return setOf('$+<=>^`|~') | bit(SYMBOL);
  return ALL;
}

/** Parses a JavaScript regular expression. Throws on unsupported syntax. */
export function parseExpression(source: string, flags: string): Expression {
  const parser = new Parser(source, flags);
  return parser.parse();
}

class Parser {
  #at = 0;
  readonly #groups: Expression[] = [];

  constructor(
    private readonly source: string,
    private readonly flags: string,
  ) {}

  parse(): Expression {
    const whole = this.#choice();
    if (this.#at < this.source.length) throw new Error(`cannot parse /${this.source}/ at ${this.#at}`);
    return whole;
  }

  #eat(text: string): boolean {
    if (!this.source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern.source, 'y');
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.source) ?? undefined;
    if (match) this.#at += match[0].length;
    return match;
  }

  #choice(): Expression {
    const parts = [this.#sequence()];
    while (this.#eat('|')) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { type: 'choice', parts };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (this.#at < this.source.length && !'|)'.includes(this.source[this.#at]!)) parts.push(this.#quantified());
    return { type: 'sequence', parts };
  }

  #quantified(): Expression {
    let body = this.#atom();
    for (let bounds = this.#bounds(); bounds !== undefined; bounds = this.#bounds()) {
      this.#eat('?');
      body = { type: 'repeat', body, ...bounds };
    }
    return body;
  }

  #bounds(): { min: number; max: number } | undefined {
    if (this.#eat('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#eat('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#eat('?')) return { min: 0, max: 1 };
    const match = this.#match(/\{(\d+)(,?)(\d*)\}/);
    if (!match) return undefined;
    const min = Number(match[1]);
    return { min, max: match[2] === '' ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3]) };
  }

  #atom(): Expression {
    if (this.#match(/\(\?<?[=!]/)) return { type: 'assertion', isStart: false, body: this.#groupEnd(this.#choice()) };
    if (this.#match(/\(\?[a-z-]*:/)) return this.#groupEnd(this.#choice());
    if (this.#match(/\((?:\?<\w+>)?/)) return this.#capture();
    if (this.#eat('^')) return { type: 'assertion', isStart: !this.flags.includes('m') };
    if (this.#eat('$') || this.#match(/\\[bB]/)) return { type: 'assertion', isStart: false };
    const reference = this.#match(/\\([1-9])/);
    if (reference) return this.#groups[Number(reference[1])] ?? { type: 'chars', set: ALL };
    if (this.#eat('.')) return this.#chars(this.flags.includes('s') ? ALL : ALL & ~LINE_ENDS);
    return this.#chars(this.#eat('[') ? this.#class() : this.#oneOf());
  }

  #capture(): Expression {
    const index = Math.max(1, this.#groups.length);
    this.#groups[index] = { type: 'chars', set: ALL };
    const body = this.#groupEnd(this.#choice());
    this.#groups[index] = body;
    return body;
  }

  #groupEnd(body: Expression): Expression {
    if (!this.#eat(')')) throw new Error(`cannot parse /${this.source}/ at ${this.#at}`);
    return body;
  }

  #chars(set: CharSet): Expression {
    return { type: 'chars', set: this.flags.includes('i') ? foldCase(set) : set };
  }

  #class(): CharSet {
    const isNegated = this.#eat('^');
    let set = 0n;
    while (!this.#eat(']')) set |= this.#classRange();
    return isNegated ? ALL & ~set : set;
  }

  #classRange(): CharSet {
    const start = this.#at;
    const first = this.#oneOf();
    const from = singleCode(this.source.slice(start, this.#at), first);
    if (from === undefined || !/^-[^\]]/.test(this.source.slice(this.#at, this.#at + 2))) return first;
    this.#at++;
    const end = this.#at;
    const last = this.#oneOf();
    return range(from, singleCode(this.source.slice(end, this.#at), last) ?? ASCII);
  }

  /** One character, or a class escape. */
  #oneOf(): CharSet {
    const property = this.#match(/\\([pP])\{([^}]*)\}/);
    if (property) return property[1] === 'p' ? propertySet(property[2]!) : ALL;
    const code = this.#match(/\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})/);
    if (code) return codeSet(Number.parseInt(code[1] ?? code[2] ?? code[3]!, 16));
    if (!this.#eat('\\')) return codeSet(this.#character());
    const letter = this.source[this.#at]!;
    const charClass = CLASSES[letter.toLowerCase()];
    if (charClass === undefined) return codeSet(CONTROLS[letter] === undefined ? this.#character() : this.#control(letter));
    this.#at++;
    return letter === letter.toLowerCase() ? charClass : ALL & ~charClass;
  }

  #control(letter: string): number {
    this.#at++;
    return CONTROLS[letter]!.charCodeAt(0);
  }

  #character(): number {
    const code = this.source.codePointAt(this.#at)!;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }
}

function codeSet(code: number): CharSet {
  return code < ASCII ? bit(code) : ALL_BEYOND;
}

/** The code of a set that is one character; undefined for a class. */
function singleCode(text: string, set: CharSet): number | undefined {
  if (/^\\[dwsDWSpP]/.test(text)) return undefined;
  if (set === ALL_BEYOND) return ASCII;
  return set.toString(2).length - 1;
}

function foldCase(set: CharSet): CharSet {
  let folded = set;
  for (let code = 0x41; code <= 0x5a; code++) {
    if (set & (bit(code) | bit(code + 0x20))) folded |= bit(code) | bit(code + 0x20);
  }
  return folded;
}
