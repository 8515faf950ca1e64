import { goQuote } from '#machinery';

interface Expectation {
  readonly type: 'object' | 'array';
  /** How Go calls the type it would decode into. */
  readonly goType: string;
}

/** What Go's JSON decoder would say of a text that should be an object or a list; undefined when nothing. */
export function jsonProblem(text: string, { type, goType }: Expectation): string | undefined {
  const syntax = new JsonScanner(text).problem();
  if (syntax !== undefined) return syntax;
  const value: unknown = JSON.parse(text);
  if (value === null) return undefined;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return kind === type ? undefined : `json: cannot unmarshal ${kind} into Go value of type ${goType}`;
}

const SPACE = /[ \t\r\n]/;
const DIGIT = /[0-9]/;
const HEX = /[0-9a-fA-F]/;

class SyntaxProblem extends Error {}

/** A JSON reader that keeps nothing but its place: it exists for the words in which it fails. */
class JsonScanner {
  private at = 0;

  constructor(private readonly text: string) {}

  problem(): string | undefined {
    try {
      this.value();
      this.skipSpace();
      if (this.at < this.text.length) this.fail('after top-level value');
      return undefined;
    } catch (error) {
      if (error instanceof SyntaxProblem) return error.message;
      throw error;
    }
  }

  private peek(): string {
    return this.text[this.at] ?? '';
  }

  private fail(where: string): never {
    if (this.at >= this.text.length) throw new SyntaxProblem('unexpected end of JSON input');
    throw new SyntaxProblem(`invalid character ${quoteChar(this.text.codePointAt(this.at) ?? 0)} ${where}`);
  }

  private skipSpace(): void {
    while (SPACE.test(this.peek())) this.at++;
  }

  private value(): void {
    this.skipSpace();
    if (this.peek() === '{') this.object();
    else if (this.peek() === '[') this.array();
    else if (this.peek() === '"') this.string();
    else if (this.peek() === 't') this.literal('true');
    else if (this.peek() === 'f') this.literal('false');
    else if (this.peek() === 'n') this.literal('null');
    else if (this.peek() === '-' || DIGIT.test(this.peek())) this.number();
    else this.fail('looking for beginning of value');
  }

  private object(): void {
    this.at++;
    this.skipSpace();
    if (this.peek() === '}') {
      this.at++;
      return;
    }
    for (;;) {
      this.skipSpace();
      if (this.peek() !== '"') this.fail('looking for beginning of object key string');
      this.string();
      this.skipSpace();
      if (this.peek() !== ':') this.fail('after object key');
      this.at++;
      this.value();
      this.skipSpace();
      if (this.peek() !== ',' && this.peek() !== '}') this.fail('after object key:value pair');
      if (this.text[this.at++] === '}') return;
    }
  }

  private array(): void {
    this.at++;
    this.skipSpace();
    if (this.peek() === ']') {
      this.at++;
      return;
    }
    for (;;) {
      this.value();
      this.skipSpace();
      if (this.peek() !== ',' && this.peek() !== ']') this.fail('after array element');
      if (this.text[this.at++] === ']') return;
    }
  }

  private string(): void {
    this.at++;
    while (this.peek() !== '"') {
      if (this.peek() === '\\') this.escape();
      else if (this.peek() === '' || this.peek() < ' ') this.fail('in string literal');
      else this.at++;
    }
    this.at++;
  }

  private escape(): void {
    this.at++;
    if (this.peek() === 'u') {
      for (let i = 0; i < 4; i++) {
        this.at++;
        if (!HEX.test(this.peek())) this.fail('in \\u hexadecimal character escape');
      }
    } else if (!'bfnrt\\/"'.includes(this.peek()) || this.peek() === '') {
      this.fail('in string escape code');
    }
    this.at++;
  }

  private literal(word: string): void {
    for (const [i, char] of [...word].entries()) {
      if (this.peek() !== char) this.fail(i === 0 ? 'looking for beginning of value' : `in literal ${word} (expecting '${char}')`);
      this.at++;
    }
  }

  private number(): void {
    if (this.peek() === '-') this.at++;
    if (!DIGIT.test(this.peek())) this.fail('in numeric literal');
    if (this.peek() === '0') this.at++;
    else this.digits();
    if (this.peek() === '.') {
      this.at++;
      if (!DIGIT.test(this.peek())) this.fail('after decimal point in numeric literal');
      this.digits();
    }
    if (this.peek() !== 'e' && this.peek() !== 'E') return;
    this.at++;
    if (this.peek() === '+' || this.peek() === '-') this.at++;
    if (!DIGIT.test(this.peek())) this.fail('in exponent of numeric literal');
    this.digits();
  }

  private digits(): void {
    while (DIGIT.test(this.peek())) this.at++;
  }
}

function quoteChar(code: number): string {
  const char = String.fromCodePoint(code);
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  return `'${goQuote(char).slice(1, -1)}'`;
}
