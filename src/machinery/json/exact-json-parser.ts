import { goQuote } from '../values/go-format.ts';
import { type JsonValue, type MutableJsonObject, setKey } from './json-value.ts';

/** Text that is no JSON; the message is the one that Go's decoder gives. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** Keys and indices from the root, such as `['spec', 'containers', 0, 'name']`. */
export type DocumentPath = readonly (string | number)[];

/** `spec.containers[0].name` */
export function documentPathText(path: DocumentPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

export interface ParsedDocument {
  readonly value: JsonValue;
  /** Keys that stand more than once in their object; the last one counts. */
  readonly duplicates: readonly DocumentPath[];
  /** Details of the text that `value` lacks; absent if there are none. */
  readonly written?: WrittenMembers;
}

/** The members, as in the text, of objects and lists with repeated keys or with numbers in other than plain integer notation. */
export type WrittenMembers = ReadonlyMap<object, readonly WrittenMember[]>;

export interface WrittenMember {
  readonly key: string | number;
  readonly value: JsonValue;
  /** The text of a number with a fraction or an exponent: `1.0` and `1` are the same number, but only one is an integer to Go. */
  readonly text: string | undefined;
}

/** Upstream's limit; listing all of a hostile text would be quadratic. */
export const MAX_DUPLICATES = 100;

/** As deep as Go's decoder goes. */
export const MAX_JSON_DEPTH = 10_000;

interface Frame {
  readonly container: MutableJsonObject | JsonValue[];
  readonly members: WrittenMember[];
  /** The keys that are known to stand twice. */
  repeated: Set<string | number> | undefined;
  /** The key or index of the member being read. */
  key: string | number;
  /** The container lacks details of the text. */
  isLossy: boolean;
}

type Expect = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'after' | 'end';

const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x62, '\b'],
  [0x66, '\f'],
  [0x6e, '\n'],
  [0x72, '\r'],
  [0x74, '\t'],
]);

/**
 * Parses JSON byte by byte, for texts that JSON.parse cannot handle: integers beyond 2^53, repeated keys, and errors in Go's words. Uses its own
 * stack, so that depth is limited by choice and not by the engine.
 */
export class ExactJsonParser {
  private at = 0;
  private readonly stack: Frame[] = [];
  private readonly duplicates = new Map<string, DocumentPath>();
  private readonly written = new Map<object, readonly WrittenMember[]>();
  private root: JsonValue = null;
  /** The notation of the last number, if relevant. */
  private numberText: string | undefined;

  constructor(private readonly bytes: Buffer) {}

  parse(): ParsedDocument {
    let expect: Expect = 'value';
    while (expect !== 'end') expect = this.step(expect);
    this.skipSpace();
    if (this.at < this.bytes.length) throw this.unexpected('after top-level value');
    return {
      value: this.root,
      duplicates: [...this.duplicates.values()],
      ...(this.written.size > 0 && { written: this.written }),
    };
  }

  private step(expect: Expect): Expect {
    this.skipSpace();
    if (expect === 'after') return this.afterMember();
    const byte = this.peek();
    if (expect === 'keyOrEnd' && byte === 0x7d) return this.close();
    if (expect === 'valueOrEnd' && byte === 0x5d) return this.close();
    if (expect === 'key' || expect === 'keyOrEnd') return this.key(byte);
    if (byte === 0x7b) return this.open({}, 'keyOrEnd');
    if (byte === 0x5b) return this.open([], 'valueOrEnd');
    return this.finish(this.scalar(byte));
  }

  private open(container: MutableJsonObject | JsonValue[], expect: Expect): Expect {
    this.at++;
    if (this.stack.length >= MAX_JSON_DEPTH) throw new JsonSyntaxError('exceeded max depth');
    this.stack.push({ container, members: [], repeated: undefined, key: Array.isArray(container) ? 0 : '', isLossy: false });
    return expect;
  }

  private close(): Expect {
    this.at++;
    const { container, members, isLossy } = this.stack.pop() as Frame;
    if (isLossy) this.written.set(container, members);
    return this.finish(container);
  }

  private key(byte: number): Expect {
    if (byte !== 0x22) throw this.unexpected('looking for beginning of object key string');
    const key = this.string();
    this.skipSpace();
    if (this.peek() !== 0x3a) throw this.unexpected('after object key');
    this.at++;
    const frame = this.stack.at(-1) as Frame;
    frame.key = key;
    if (Object.hasOwn(frame.container, key)) this.addDuplicate(frame);
    return 'value';
  }

  private addDuplicate(frame: Frame): void {
    frame.isLossy = true;
    if (this.duplicates.size >= MAX_DUPLICATES || frame.repeated?.has(frame.key)) return;
    frame.repeated ??= new Set();
    frame.repeated.add(frame.key);
    const path = this.stack.map((frame) => frame.key);
    this.duplicates.set(JSON.stringify(path), path);
  }

  /** Puts a value where it belongs. */
  private finish(value: JsonValue): Expect {
    const frame = this.stack.at(-1);
    if (frame === undefined) {
      this.root = value;
      return 'end';
    }
    this.note(frame, value);
    if (Array.isArray(frame.container)) {
      frame.container.push(value);
      frame.key = frame.container.length;
    } else setKey(frame.container, frame.key as string, value);
    return 'after';
  }

  private note(frame: Frame, value: JsonValue): void {
    const text = this.numberText;
    this.numberText = undefined;
    if (text !== undefined) frame.isLossy = true;
    frame.members.push({ key: frame.key, value, text });
  }

  private afterMember(): Expect {
    const isList = Array.isArray(this.stack.at(-1)?.container);
    const byte = this.peek();
    if (byte === 0x2c) {
      this.at++;
      return isList ? 'value' : 'key';
    }
    if (byte === (isList ? 0x5d : 0x7d)) return this.close();
    throw this.unexpected(isList ? 'after array element' : 'after object key:value pair');
  }

  private scalar(byte: number): JsonValue {
    if (byte === 0x22) return this.string();
    if (byte === 0x2d || isDigit(byte)) return this.number();
    if (byte === 0x74) return this.literal('true', true);
    if (byte === 0x66) return this.literal('false', false);
    if (byte === 0x6e) return this.literal('null', null);
    throw this.unexpected('looking for beginning of value');
  }

  private literal(text: string, value: JsonValue): JsonValue {
    for (const [i, char] of [...text].entries()) {
      if (i > 0 && this.peek() !== char.charCodeAt(0)) throw this.unexpected(`in literal ${text} (expecting ${quoteChar(char)})`);
      this.at++;
    }
    return value;
  }

  private number(): JsonValue {
    const start = this.at;
    if (this.peek() === 0x2d) this.at++;
    if (this.peek() === 0x30) this.at++;
    else this.digits('in numeric literal');
    const isInteger = ![this.fraction(), this.exponent()].includes(true);
    const text = this.bytes.toString('latin1', start, this.at);
    if (isInteger) return exactInteger(text);
    this.numberText = text;
    return finite(text);
  }

  private fraction(): boolean {
    if (this.peek(true) !== 0x2e) return false;
    this.at++;
    this.digits('after decimal point in numeric literal');
    return true;
  }

  private exponent(): boolean {
    if ((this.peek(true) | 0x20) !== 0x65) return false;
    this.at++;
    const sign = this.peek();
    if (sign === 0x2b || sign === 0x2d) this.at++;
    this.digits('in exponent of numeric literal');
    return true;
  }

  private digits(where: string): void {
    if (!isDigit(this.peek())) throw this.unexpected(where);
    while (isDigit(this.peek(true))) this.at++;
  }

  private string(): string {
    this.at++;
    let text = '';
    let start = this.at;
    for (;;) {
      const byte = this.peek();
      if (byte < 0x20) throw this.unexpected('in string literal');
      if (byte === 0x22) break;
      if (byte === 0x5c) {
        text += this.bytes.toString('utf8', start, this.at) + this.escape();
        start = this.at;
      } else this.at++;
    }
    text += this.bytes.toString('utf8', start, this.at);
    this.at++;
    return text;
  }

  private escape(): string {
    this.at++;
    const byte = this.peek();
    const simple = ESCAPES.get(byte);
    if (simple === undefined && byte !== 0x75) throw this.unexpected('in string escape code');
    this.at++;
    return simple ?? this.unicode();
  }

  /** Go reads half of a surrogate pair as the replacement character. */
  private unicode(): string {
    const unit = this.hex4();
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    const mark = this.at;
    if (unit < 0xdc00 && this.bytes[mark] === 0x5c && this.bytes[mark + 1] === 0x75) {
      this.at += 2;
      const low = this.hex4();
      if (low >= 0xdc00 && low <= 0xdfff) return String.fromCharCode(unit, low);
      this.at = mark;
    }
    return '\ufffd';
  }

  private hex4(): number {
    const start = this.at;
    for (let i = 0; i < 4; i++) {
      if (!/[0-9a-fA-F]/.test(String.fromCharCode(this.peek()))) throw this.unexpected('in \\u hexadecimal character escape');
      this.at++;
    }
    return Number.parseInt(this.bytes.toString('latin1', start, this.at), 16);
  }

  private skipSpace(): void {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at++;
    }
  }

  /** The next byte. Throws at the end, unless a value may end here. */
  private peek(mayEnd = false): number {
    const byte = this.bytes[this.at];
    if (byte !== undefined) return byte;
    if (mayEnd && this.stack.length === 0) return 0;
    throw new JsonSyntaxError('unexpected end of JSON input');
  }

  private unexpected(where: string): JsonSyntaxError {
    const byte = this.bytes[this.at];
    if (byte === undefined) return new JsonSyntaxError('unexpected end of JSON input');
    return new JsonSyntaxError(`invalid character ${quoteChar(String.fromCharCode(byte))} ${where}`);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function quoteChar(char: string): string {
  if (char === "'") return "'\\''";
  return char === '"' ? `'"'` : `'${goQuote(char).slice(1, -1)}'`;
}

function exactInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

function finite(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number)) throw new JsonSyntaxError(`json: cannot unmarshal number ${text} into Go value of type float64`);
  return number;
}
