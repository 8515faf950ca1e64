import { isReservedWord } from '../escaping.ts';
import type { CelValue } from '../values/value.ts';
import type { CallExpr, Expr, MapEntryExpr, StructFieldExpr } from './ast.ts';
import { ExprFactory, NodeIds } from './expr-factory.ts';
import { type LexResult, type Token, type TokenType, tokenize } from './lexer.ts';
import { LiteralError, literalValue } from './literals.ts';
import { type Macro, MacroError, macroKey } from './macros.ts';
import { type Issue, NO_LOCATION, type Source } from './source.ts';
import { syntaxErrors } from './syntax-errors.ts';

const MAX_EXPRESSION_SIZE = 100_000;
const MAX_RECURSION = 250;

export interface ParseResult {
  /** The expression, if it has no issues. */
  readonly expr: Expr | undefined;
  readonly ids: NodeIds;
  readonly issues: readonly Issue[];
}

/** Parses an expression and expands its macros. */
export function parse(source: Source, macros: readonly Macro[]): ParseResult {
  const ids = new NodeIds(source);
  const failed = (issues: readonly Issue[]): ParseResult => ({ expr: undefined, ids, issues });
  const reported = (lexed: LexResult) => failed(syntaxErrors(source, lexed, macros));
  const size = source.characters.length;
  if (size > MAX_EXPRESSION_SIZE) {
    return failed([wholeIssue(`expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_SIZE}`)]);
  }
  const lexed = tokenize(source);
  if (lexed.issues.length > 0) return reported(lexed);
  const parser = new Parser(lexed.tokens, ids, macros);
  const expr = parser.run();
  if (expr instanceof Unparsable) return reported(lexed);
  if (expr instanceof TooDeep) return failed([wholeIssue(expr.message)]);
  const issues = parser.issues.map(({ message, offset }) => ({ message, location: source.locationOf(offset) }));
  return { expr: issues.length === 0 ? expr : undefined, ids, issues };
}

function wholeIssue(message: string): Issue {
  return { message, location: NO_LOCATION };
}

/** Thrown for a syntax error; the message is computed separately. */
class Unparsable {}

class TooDeep {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const RELATIONS: Readonly<Partial<Record<TokenType, string>>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>=': '_>=_',
  '>': '_>_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
};
const SUMS: Readonly<Partial<Record<TokenType, string>>> = { '+': '_+_', '-': '_-_' };
const PRODUCTS: Readonly<Partial<Record<TokenType, string>>> = { '*': '_*_', '/': '_/_', '%': '_%_' };

interface SemanticIssue {
  readonly message: string;
  readonly offset: number;
}

// One file: the productions of the grammar call each other.
class Parser {
  readonly issues: SemanticIssue[] = [];
  private readonly tokens: readonly Token[];
  private readonly ids: NodeIds;
  private readonly macros: ReadonlyMap<string, Macro>;
  /** How deep the tree below a node is, in the nodes that upstream's visitor counts. */
  private readonly heights: number[] = [];
  private position = 0;
  private depth = 0;

  constructor(tokens: readonly Token[], ids: NodeIds, macros: readonly Macro[]) {
    this.tokens = tokens;
    this.ids = ids;
    this.macros = new Map(macros.map((macro) => [macroKey(macro.name, macro.argCount, macro.isMethod), macro]));
  }

  run(): Expr | Unparsable | TooDeep {
    try {
      const expr = this.expression();
      this.expect('<EOF>');
      return expr;
    } catch (error) {
      if (error instanceof Unparsable || error instanceof TooDeep) return error;
      throw error;
    }
  }

  private get token(): Token {
    const token = this.tokens[this.position];
    if (token === undefined) throw new Unparsable();
    return token;
  }

  private peek(distance: number): TokenType | undefined {
    return this.tokens[this.position + distance]?.type;
  }

  private take(): Token {
    const token = this.token;
    this.position++;
    return token;
  }

  private accept(type: TokenType): Token | undefined {
    return this.token.type === type ? this.take() : undefined;
  }

  private expect(type: TokenType): Token {
    if (this.token.type !== type) throw new Unparsable();
    return this.take();
  }

  private expression(): Expr {
    if (++this.depth > MAX_RECURSION) throw new TooDeep(`expression recursion limit exceeded: ${MAX_RECURSION}`);
    const condition = this.logical('||');
    const op = this.accept('?');
    const expr = op === undefined ? condition : this.conditional(condition, op);
    this.depth--;
    return expr;
  }

  private conditional(condition: Expr, op: Token): Expr {
    const whenTrue = this.logical('||');
    this.expect(':');
    const whenFalse = this.expression();
    return this.counted(this.call('_?_:_', op, [condition, whenTrue, whenFalse]));
  }

  /** A chain of `||` or `&&`. The terms become a balanced tree, so that long chains do not become deep. */
  private logical(operator: '||' | '&&'): Expr {
    const term = operator === '||' ? () => this.logical('&&') : () => this.relation();
    const terms = [term()];
    const ops: Token[] = [];
    for (let op = this.accept(operator); op !== undefined; op = this.accept(operator)) {
      ops.push(op);
      terms.push(term());
    }
    return this.balance({ name: operator === '||' ? '_||_' : '_&&_', terms, ops }, 0, ops.length - 1);
  }

  private balance(chain: { name: string; terms: readonly Expr[]; ops: readonly Token[] }, low: number, high: number): Expr {
    if (high < low) return at(chain.terms, low);
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? at(chain.terms, middle) : this.balance(chain, low, middle - 1);
    const right = middle === high ? at(chain.terms, middle + 1) : this.balance(chain, middle + 1, high);
    return this.call(chain.name, at(chain.ops, middle), [left, right]);
  }

  private relation(): Expr {
    return this.binary(RELATIONS, () => this.sum());
  }

  private sum(): Expr {
    return this.binary(SUMS, () => this.binary(PRODUCTS, () => this.unary()));
  }

  private binary(operators: Readonly<Partial<Record<TokenType, string>>>, operand: () => Expr): Expr {
    let left = operand();
    for (let name = operators[this.token.type]; name !== undefined; name = operators[this.token.type]) {
      const op = this.take();
      left = this.counted(this.call(name, op, [left, operand()]));
    }
    return left;
  }

  private unary(): Expr {
    const op = this.token;
    if (op.type === '!') return this.repeated('!', '!_');
    const next = this.peek(1);
    return op.type === '-' && next !== 'NUM_INT' && next !== 'NUM_FLOAT' ? this.repeated('-', '-_') : this.member();
  }

  /** Any number of one sign; an even number of them cancels out. */
  private repeated(sign: '!' | '-', name: string): Expr {
    const op = this.token;
    let count = 0;
    while (this.accept(sign) !== undefined) count++;
    const operand = this.member();
    return count % 2 === 0 ? operand : this.call(name, op, [operand]);
  }

  private member(): Expr {
    let expr = this.primary();
    for (;;) {
      if (this.token.type === '.') expr = this.counted(this.selection(expr));
      else if (this.token.type === '[') expr = this.counted(this.index(expr));
      else return expr;
    }
  }

  private selection(operand: Expr): Expr {
    const dot = this.take();
    const optional = this.accept('?') !== undefined;
    const name = this.fieldName();
    if (optional) {
      const field = this.node({ kind: 'literal', value: name.text }, name.offset);
      return this.call('_?._', dot, [operand, field]);
    }
    const open = name.isIdentifier ? this.accept('(') : undefined;
    if (open === undefined) return this.node({ kind: 'select', operand, field: name.text, testOnly: false }, dot.offset, [operand]);
    return this.callOrMacro({ name: name.text, open, target: operand, args: this.callArguments() });
  }

  private fieldName(): { readonly text: string; readonly offset: number; readonly isIdentifier: boolean } {
    const token = this.take();
    if (token.type === 'IDENTIFIER') return { text: token.text, offset: token.offset, isIdentifier: true };
    if (token.type !== 'ESC_IDENTIFIER') throw new Unparsable();
    this.issues.push({ message: "unsupported syntax: '`'", offset: token.offset });
    return { text: token.text, offset: token.offset, isIdentifier: false };
  }

  private index(operand: Expr): Expr {
    const open = this.take();
    const optional = this.accept('?') !== undefined;
    const key = this.expression();
    this.expect(']');
    return this.call(optional ? '_[?_]' : '_[_]', open, [operand, key]);
  }

  private callArguments(): readonly Expr[] {
    const args: Expr[] = [];
    if (this.accept(')') !== undefined) return args;
    do args.push(this.expression());
    while (this.accept(',') !== undefined);
    this.expect(')');
    return args;
  }

  private primary(): Expr {
    const token = this.token;
    switch (token.type) {
      case '(':
        return this.parenthesized();
      case '[':
        return this.list();
      case '{':
        return this.map();
      case '.':
      case 'IDENTIFIER':
        return this.named();
      default:
        return this.literal();
    }
  }

  private parenthesized(): Expr {
    this.take();
    const expr = this.expression();
    this.expect(')');
    return expr;
  }

  private list(): Expr {
    const open = this.take();
    const elements: Expr[] = [];
    const optionals = new Set<number>();
    this.separated(']', () => {
      if (this.accept('?') !== undefined) optionals.add(elements.length);
      elements.push(this.expression());
    });
    return this.node({ kind: 'list', elements, optionals }, open.offset, elements);
  }

  /** Elements up to a closing token, with commas between them and perhaps one at the end. */
  private separated(close: ']' | '}', element: () => void): void {
    let isFirst = true;
    while (this.accept(close) === undefined) {
      if (!isFirst || this.token.type === ',') this.expect(',');
      if (this.accept(close) !== undefined) return;
      if (isFirst && this.peek(-1) === ',') throw new Unparsable();
      element();
      isFirst = false;
    }
  }

  private map(): Expr {
    const open = this.take();
    const entries: MapEntryExpr[] = [];
    this.separated('}', () => {
      const optional = this.accept('?') !== undefined;
      const key = this.expression();
      const colon = this.expect(':');
      entries.push({ id: this.ids.next(colon.offset), key, value: this.expression(), optional });
    });
    const parts = entries.flatMap((entry) => [entry.key, entry.value]);
    return this.node({ kind: 'map', entries }, open.offset, parts);
  }

  private named(): Expr {
    const start = this.token;
    const dot = this.accept('.') === undefined ? '' : '.';
    const name = this.expect('IDENTIFIER');
    if (this.startsStruct()) return this.struct(dot + name.text);
    const open = this.accept('(');
    const args = open === undefined ? [] : this.callArguments();
    if (isReservedWord(name.text)) {
      this.issues.push({ message: `reserved identifier: ${name.text}`, offset: start.offset });
      return this.node({ kind: 'literal', value: null }, start.offset);
    }
    if (open === undefined) return this.node({ kind: 'ident', name: dot + name.text }, name.offset);
    return this.callOrMacro({ name: dot + name.text, open, target: undefined, args });
  }

  /** Whether what follows a name makes it a type's name: `a.b.C{`. */
  private startsStruct(): boolean {
    let distance = 0;
    while (this.peek(distance) === '.' && this.peek(distance + 1) === 'IDENTIFIER') distance += 2;
    return this.peek(distance) === '{';
  }

  private struct(firstName: string): Expr {
    let typeName = firstName;
    while (this.accept('.') !== undefined) typeName += `.${this.expect('IDENTIFIER').text}`;
    const open = this.expect('{');
    const fields: StructFieldExpr[] = [];
    this.separated('}', () => {
      const optional = this.accept('?') !== undefined;
      const name = this.fieldName().text;
      const colon = this.expect(':');
      fields.push({ id: this.ids.next(colon.offset), name, value: this.expression(), optional });
    });
    const parts = fields.map((field) => field.value);
    return this.node({ kind: 'struct', typeName, fields }, open.offset, parts);
  }

  private literal(): Expr {
    const start = this.token;
    const sign = this.accept('-') === undefined ? '' : '-';
    const token = this.take();
    if (sign !== '' && token.type !== 'NUM_INT' && token.type !== 'NUM_FLOAT') throw new Unparsable();
    return this.node({ kind: 'literal', value: this.literalValue(token, sign, start.offset) }, start.offset);
  }

  private literalValue(token: Token, sign: '' | '-', offset: number): CelValue {
    const value = literalValue(token, sign);
    if (value === undefined) throw new Unparsable();
    if (!(value instanceof LiteralError)) return value;
    this.issues.push({ message: value.message, offset });
    return null;
  }

  private callOrMacro(call: { name: string; open: Token; target: Expr | undefined; args: readonly Expr[] }): Expr {
    const { name, open, target, args } = call;
    const macro = this.macros.get(macroKey(name, args.length, target !== undefined));
    const expanded = macro?.expand({ factory: new ExprFactory(this.ids, open.offset), target, args });
    const parts = target === undefined ? args : [target, ...args];
    if (expanded === undefined) return this.node({ kind: 'call', function: name, target, args }, open.offset, parts);
    if (expanded instanceof MacroError) {
      this.issues.push({ message: expanded.message, offset: this.ids.offsetOf(expanded.node.id) });
      return this.node({ kind: 'literal', value: null }, open.offset);
    }
    this.heights[expanded.id] = this.heightOf(parts);
    return expanded;
  }

  private call(name: string, token: Token, args: readonly Expr[]): CallExpr {
    return this.node({ kind: 'call', function: name, args }, token.offset, args);
  }

  private node<const T extends object>(node: T, offset: number, parts: readonly Expr[] = []): T & { readonly id: number } {
    const id = this.ids.next(offset);
    this.heights[id] = this.heightOf(parts);
    return { ...node, id };
  }

  private heightOf(parts: readonly Expr[]): number {
    let height = 0;
    for (const part of parts) height = Math.max(height, this.heights[part.id] ?? 0);
    return height;
  }

  /** Checks the maximum depth of an expression. */
  private counted(expr: Expr): Expr {
    const height = (this.heights[expr.id] ?? 0) + 1;
    if (height > MAX_RECURSION) throw new TooDeep('max recursion depth exceeded');
    this.heights[expr.id] = height;
    return expr;
  }
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Unparsable();
  return item;
}
