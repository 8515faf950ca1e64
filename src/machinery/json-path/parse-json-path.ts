import { pushAll } from '#base';
import type { JsonValue } from '../json/json-value.ts';

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

export interface SliceNode {
  readonly kind: 'slice';
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly step: number | undefined;
  /** A single index: its end was made from its start. */
  readonly isIndex: boolean;
}

export interface FilterNode {
  readonly kind: 'filter';
  readonly left: readonly PathNode[];
  readonly operator: string;
  readonly right: readonly PathNode[];
}

export type PathNode =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'union'; readonly alternatives: readonly (readonly PathNode[])[] }
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | SliceNode
  | FilterNode;

const MAX_DEPTH = 20;

/** Parses a path as it stands inside the braces of kubectl's templates. Throws JsonPathError. */
export function parseJsonPath(text: string, depth = 0): readonly PathNode[] {
  if (depth > MAX_DEPTH) throw new JsonPathError('filters are nested too deep');
  return new Parser(text, depth).parse();
}

const TERMINATORS = new Set([' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}', '']);

class Parser {
  private position = 0;
  private readonly nodes: PathNode[] = [];

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  parse(): readonly PathNode[] {
    while (this.position < this.text.length) this.parseNext();
    return this.nodes;
  }

  private parseNext(): void {
    if (this.text.startsWith('[?(', this.position)) this.parseFilter();
    else if (this.text.startsWith('..', this.position)) this.parseRecursive();
    else this.parseCharacter(this.text.charAt(this.position));
  }

  private parseCharacter(char: string): void {
    if (char === '\r' || char === '\n') throw new JsonPathError('unclosed action');
    if (char === ' ' || char === '@' || char === '$') this.position++;
    else if (char === '[') this.parseArray();
    else if (char === '"' || char === "'") this.parseQuote(char);
    else if (char === '.') {
      this.position++;
      this.parseField();
    } else if (/[-+\d]/.test(char)) this.parseNumber();
    else if (/[_\p{L}]/u.test(char)) this.parseWord();
    else throw new JsonPathError(`unrecognized character in action: ${char}`);
  }

  private parseField(): void {
    const name = this.takeName();
    if (name === '*') this.nodes.push({ kind: 'wildcard' });
    else this.nodes.push({ kind: 'field', name: name.replaceAll('\\', '') });
  }

  private takeName(): string {
    const start = this.position;
    while (!TERMINATORS.has(this.text.charAt(this.position))) this.position += this.text.charAt(this.position) === '\\' ? 2 : 1;
    return this.text.slice(start, this.position);
  }

  private parseRecursive(): void {
    if (this.nodes.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent');
    this.position += 2;
    this.nodes.push({ kind: 'recursive' });
    if (/[_\p{L}\d]/u.test(this.text.charAt(this.position))) this.parseField();
  }

  private parseWord(): void {
    const word = this.takeName();
    if (word !== 'true' && word !== 'false') throw new JsonPathError(`unrecognized identifier ${word}`);
    this.nodes.push({ kind: 'literal', value: word === 'true' });
  }

  private parseNumber(): void {
    const [digits = ''] = /^[-+]?[\d.]*/.exec(this.text.slice(this.position)) ?? [];
    const value = Number(digits);
    if (digits === '' || Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${digits}`);
    this.position += digits.length;
    this.nodes.push({ kind: 'literal', value });
  }

  private parseQuote(quote: string): void {
    const start = this.position++;
    while (this.text.charAt(this.position) !== quote || this.text.charAt(this.position - 1) === '\\') {
      if (this.position >= this.text.length || this.text.charAt(this.position) === '\n')
        throw new JsonPathError('unterminated quoted string');
      this.position++;
    }
    this.position++;
    this.nodes.push({ kind: 'literal', value: this.text.slice(start + 1, this.position - 1).replace(/\\(.)/g, '$1') });
  }

  private parseArray(): void {
    const end = this.text.indexOf(']', this.position);
    const body = end < 0 ? '\n' : this.text.slice(this.position + 1, end);
    if (body.includes('\n')) throw new JsonPathError('unterminated array');
    this.position = end + 1;
    const parts = body.split(',');
    if (parts.length > 1) {
      this.nodes.push({ kind: 'union', alternatives: parts.map((part) => parseJsonPath(`[${part.trim()}]`, this.depth + 1)) });
    } else pushAll(this.nodes, this.subscript(body));
  }

  private subscript(body: string): readonly PathNode[] {
    const key = /^'([^']*)'$/.exec(body)?.[1];
    if (key !== undefined) return parseJsonPath(`.${key}`, this.depth + 1);
    const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(body === '*' ? ':' : body);
    if (match === null) throw new JsonPathError(`invalid array index ${body}`);
    const [, start = '', end, step] = match;
    const first = start === '' ? undefined : Number(start);
    const isIndex = end === undefined;
    return [
      { kind: 'slice', start: first, end: isIndex ? (first ?? 0) + 1 : numberAfterColon(end), step: numberAfterColon(step), isIndex },
    ];
  }

  private parseFilter(): void {
    const start = this.position + 3;
    const end = this.filterEnd(start);
    this.position = end + 2;
    const body = this.text.slice(start, end);
    const { left, operator, right } = splitFilter(body);
    const deeper = this.depth + 1;
    this.nodes.push({ kind: 'filter', left: parseJsonPath(left, deeper), operator, right: parseJsonPath(right, deeper) });
  }

  // The filter's closing parenthesis; quoted ones are skipped.
  private filterEnd(start: number): number {
    let quote = '';
    for (let i = start; i < this.text.length; i++) {
      const char = this.text.charAt(i);
      if (char === '\n') break;
      if (quote !== '') quote = char === quote && this.text.charAt(i - 1) !== '\\' ? '' : quote;
      else if (char === '"' || char === "'") quote = char;
      else if (char === ')') {
        if (this.text.charAt(i + 1) !== ']') throw new JsonPathError('unclosed array expect ]');
        return i;
      }
    }
    throw new JsonPathError('unterminated filter');
  }
}

function numberAfterColon(text: string | undefined): number | undefined {
  return text === undefined || text === ':' ? undefined : Number(text.slice(1));
}

interface Filter {
  readonly left: string;
  readonly operator: string;
  readonly right: string;
}

function splitFilter(body: string): Filter {
  const [start = '', left = '', signs = ''] = /^([^!<>=]+)([!<>=]+)/.exec(body) ?? [];
  const right = body.slice(start.length);
  if (right !== '') return start === '' ? existence(body) : { left, operator: signs, right };
  // Something must be left to compare with.
  return signs.length < 2 ? existence(body) : { left, operator: signs.slice(0, -1), right: signs.slice(-1) };
}

function existence(body: string): Filter {
  return { left: body, operator: 'exists', right: '' };
}
