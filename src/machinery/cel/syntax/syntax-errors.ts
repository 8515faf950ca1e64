import { buildGrammar, type Grammar, type GrammarState, type NextTokens, nextTokens, type Piece, type RuleName } from './grammar.ts';
import type { LexResult, Token, TokenType } from './lexer.ts';
import type { Macro } from './macros.ts';
import { NO_ALTERNATIVE, recoveredIssues, type SyntaxNode } from './recovered-expression.ts';
import { type Issue, NO_LOCATION, type Source } from './source.ts';

const MAX_RECOVERIES = 30;
const MAX_SKIPPED_TOKENS = 256;
const MAX_ERRORS = 100;
const MAX_RECURSION = 250;

// The order in which messages list tokens.
const TOKEN_ORDER: readonly TokenType[] = (
  '<EOF> == != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null ' +
  'NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER ESC_IDENTIFIER'
).split(' ') as TokenType[];
const SYMBOLIC: ReadonlySet<TokenType> = new Set<TokenType>([
  '<EOF>',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
]);

/**
 * The errors of an expression that does not follow the grammar, in the words of upstream's generated parser: it reports, recovers by inserting or
 * deleting one token, skips otherwise, and continues. What is wrong beyond the grammar with the parts that it read is reported as well.
 */
export function syntaxErrors(source: Source, lexed: LexResult, macros: readonly Macro[]): readonly Issue[] {
  const parser = new RecoveringParser(source, lexed);
  const tree = parser.run();
  const issues = [...lexed.issues, ...parser.issues, ...(tree === undefined ? [] : recoveredIssues(tree, source, macros))];
  return issues.length > 0 ? issues : [{ message: 'Syntax error: invalid expression', location: NO_LOCATION }];
}

/** A rule call: where the caller continues. */
interface Frame {
  readonly follow: GrammarState | undefined;
  readonly parent: Frame | undefined;
}

/** Why a rule failed. */
class Mismatch {}

class NoViableAlternative {
  readonly start: number;
  readonly offending: number;

  constructor(start: number, offending: number) {
    this.start = start;
    this.offending = offending;
  }
}

/** Thrown to end parsing immediately. */
class GiveUp {}

// One file: a parser whose predictions, recovery and messages share its position, like upstream's generated one.
class RecoveringParser {
  private readonly source: Source;
  private readonly tokens: readonly Token[];
  private readonly grammar: Grammar = buildGrammar();
  private readonly lookAheads = new Map<GrammarState, NextTokens>();
  private readonly unrecognized: ReadonlySet<number>;
  readonly issues: Issue[] = [];
  private node: SyntaxNode = { rule: undefined, alternative: NO_ALTERNATIVE, items: [], offset: 0 };
  private position = 0;
  private frame: Frame = { follow: undefined, parent: undefined };
  private state: GrammarState = this.grammar.start.start;
  private isRecovering = false;
  private lastErrorPosition = -1;
  private readonly lastErrorStates = new Set<GrammarState>();
  private recoveries = 0;
  private precedence = 0;
  private depth = 0;

  constructor(source: Source, { tokens, unrecognized }: LexResult) {
    this.source = source;
    this.tokens = tokens;
    this.unrecognized = unrecognized;
  }

  /** What could be read; undefined if there were too many errors. */
  run(): SyntaxNode | undefined {
    const root = this.node;
    try {
      this.rule('start');
      return root;
    } catch (error) {
      if (!(error instanceof GiveUp)) throw error;
      return undefined;
    }
  }

  /** What is read until `leave` is collected in a node of its own, also if it fails. */
  private enter(rule: RuleName | undefined, alternative: number): SyntaxNode {
    const outer = this.node;
    this.node = { rule, alternative, items: [], offset: this.tokenAt(this.position).offset };
    outer.items.push(this.node);
    return outer;
  }

  private part(piece: Piece, rule: RuleName, alternative = NO_ALTERNATIVE): void {
    const outer = this.enter(undefined, alternative);
    try {
      this.piece(piece, rule);
    } finally {
      this.node = outer;
    }
  }

  private look(distance = 0): TokenType {
    return this.tokenAt(this.position + distance).type;
  }

  private tokenAt(position: number): Token {
    const token = this.tokens[Math.min(position, this.tokens.length - 1)];
    if (token === undefined) throw new GiveUp();
    return token;
  }

  private next(state: GrammarState): NextTokens {
    const cached = this.lookAheads.get(state);
    if (cached !== undefined) return cached;
    const tokens = nextTokens(this.grammar, state);
    this.lookAheads.set(state, tokens);
    return tokens;
  }

  private consume(): void {
    if (this.look() !== '<EOF>') this.position++;
  }

  private rule(name: RuleName): void {
    if (name === 'expr' && ++this.depth > MAX_RECURSION) {
      this.issues.push({ message: `expression recursion limit exceeded: ${MAX_RECURSION}`, location: NO_LOCATION });
      throw new GiveUp();
    }
    try {
      this.piece(this.grammar[name].body, name);
    } catch (error) {
      if (!(error instanceof Mismatch || error instanceof NoViableAlternative)) throw error;
      this.reportError(error);
      this.recover();
    }
    if (name === 'expr') this.depth--;
  }

  private piece(piece: Piece, rule: RuleName): void {
    switch (piece.kind) {
      case 'tokens':
        this.match(piece);
        break;
      case 'rule':
        this.invoke(piece);
        break;
      case 'sequence':
        for (const part of piece.pieces) this.piece(part, rule);
        break;
      case 'choice':
        this.choose(piece, rule);
        break;
      case 'optional':
        this.sync(piece.state);
        if (this.startsWith(piece.piece)) this.part(piece.piece, rule);
        break;
      case 'loop':
        this.repeat(piece, rule);
        break;
    }
  }

  private invoke(piece: Piece & { readonly kind: 'rule' }): void {
    const { frame, precedence } = this;
    this.state = piece.state;
    this.frame = { follow: piece.follow, parent: frame };
    this.precedence = piece.precedence;
    const outer = this.enter(piece.rule, NO_ALTERNATIVE);
    try {
      this.rule(piece.rule);
    } finally {
      this.node = outer;
      this.frame = frame;
      this.precedence = precedence;
    }
  }

  private match(piece: Piece & { readonly kind: 'tokens' }): void {
    this.state = piece.state;
    if (!piece.tokens.includes(this.look())) {
      this.recoverInline(piece);
      return;
    }
    this.isRecovering = false;
    this.lastErrorStates.clear();
    this.lastErrorPosition = -1;
    this.node.items.push(this.tokenAt(this.position));
    this.consume();
  }

  private choose(piece: Piece & { readonly kind: 'choice' }, rule: RuleName): void {
    this.sync(piece.state);
    const alternative = this.predict(piece, rule);
    const chosen = piece.alternatives[alternative];
    if (chosen !== undefined) this.part(chosen, rule, alternative);
  }

  /** The alternative that the generated parser would take; throws if none is viable. */
  private predict(piece: Piece & { readonly kind: 'choice' }, rule: RuleName): number {
    switch (rule) {
      case 'unary':
        return this.predictUnary();
      case 'member':
        return this.predictMember();
      case 'primary':
        return this.predictPrimary();
      case 'literal':
        if (this.look() === '-') return this.predictNegativeLiteral();
        break;
      default:
        break;
    }
    const index = piece.alternatives.findIndex((alternative) => this.startsWith(alternative));
    if (index < 0) throw new NoViableAlternative(this.position, this.position);
    return index;
  }

  private predictUnary(): number {
    if (this.look() === '!') return 1;
    if (this.look() !== '-') return 0;
    if (isNumber(this.look(1))) return 0;
    if (this.look(1) !== '-' && !this.next(this.grammar.member.start).tokens.has(this.look(1))) {
      throw new NoViableAlternative(this.position, this.position + 1);
    }
    return 2;
  }

  private predictMember(): number {
    if (this.look() === '[') return 2;
    const second = this.look(1);
    if (second === '?' || second === 'ESC_IDENTIFIER') return 0;
    if (second !== 'IDENTIFIER') throw new NoViableAlternative(this.position, this.position + 1);
    return this.look(2) === '(' ? 1 : 0;
  }

  private predictPrimary(): number {
    const first = this.look();
    if (first === '(' || first === '[' || first === '{') return first === '(' ? 2 : first === '[' ? 3 : 4;
    if (first !== '.' && first !== 'IDENTIFIER') return 6;
    let distance = first === '.' ? 1 : 0;
    if (this.look(distance) !== 'IDENTIFIER') throw new NoViableAlternative(this.position, this.position + distance);
    distance++;
    if (this.look(distance) === '(') return 1;
    while (this.look(distance) === '.' && this.look(distance + 1) === 'IDENTIFIER') distance += 2;
    return this.look(distance) === '{' ? 5 : 0;
  }

  private predictNegativeLiteral(): number {
    const second = this.look(1);
    if (!isNumber(second)) throw new NoViableAlternative(this.position, this.position + 1);
    return second === 'NUM_INT' ? 0 : 2;
  }

  private startsWith(piece: Piece): boolean {
    return this.next(startOf(piece, this.grammar)).tokens.has(this.look());
  }

  private repeat(piece: Piece & { readonly kind: 'loop' }, rule: RuleName): void {
    this.sync(piece.state);
    for (let round = 0; this.entersLoop(piece, rule, round); round++) {
      this.part(piece.piece, rule);
      this.sync(piece.again);
    }
  }

  private entersLoop(piece: Piece & { readonly kind: 'loop' }, rule: RuleName, round: number): boolean {
    if (piece.atLeastOnce && round === 0) return true;
    if (!this.startsWith(piece.piece)) return false;
    if (rule === 'relation') return this.precedence <= 1;
    if (rule === 'calc') return this.precedence <= ('*/%'.includes(this.look()) ? 2 : 1);
    // The comma may be a trailing one.
    if (rule === 'listInit' || rule === 'mapInitializerList')
      return this.look(1) === '?' || this.next(this.grammar.expr.start).tokens.has(this.look(1));
    if (rule === 'fieldInitializerList') return this.next(this.grammar.optField.start).tokens.has(this.look(1));
    return rule !== 'unary' || this.look() !== '-' || this.continuesMinus();
  }

  private continuesMinus(): boolean {
    const second = this.look(1);
    if (second !== '-' && !this.next(this.grammar.member.start).tokens.has(second)) {
      throw new NoViableAlternative(this.position, this.position + 1);
    }
    return true;
  }

  /** Checks that the next token fits before a decision is made; drops it if the one after fits. */
  private sync(state: GrammarState): void {
    this.state = state;
    if (this.isRecovering) return;
    const expected = this.next(state);
    if (expected.endsRule || expected.tokens.has(this.look())) return;
    if (state.kind === 'block') {
      if (!this.dropToken()) throw new Mismatch();
    } else if (state.kind === 'loopBack') {
      this.reportUnwanted();
      this.skipUntil(new Set([...this.expectedTokens(), ...this.recoverySet()]));
    }
  }

  private recoverInline({ follow, tokens }: Piece & { readonly kind: 'tokens' }): void {
    this.countRecovery();
    if (this.dropToken()) {
      this.node.items.push(this.tokenAt(this.position));
      this.consume();
    } else if (this.acceptsAfter(follow)) {
      this.reportMissing();
      const [type = '<EOF>'] = tokens;
      this.node.items.push({ type, text: `<missing ${type}>`, offset: this.tokenAt(this.position).offset });
    } else throw new Mismatch();
  }

  /** Whether the token after the unfitting one fits; if so the unfitting one is dropped. */
  private dropToken(): boolean {
    if (!this.expectedTokens().has(this.look(1))) return false;
    this.reportUnwanted();
    this.consume();
    this.isRecovering = false;
    this.lastErrorStates.clear();
    this.lastErrorPosition = -1;
    return true;
  }

  private acceptsAfter(state: GrammarState): boolean {
    return this.expectedFrom(state).has(this.look());
  }

  private countRecovery(): void {
    if (this.recoveries++ < MAX_RECOVERIES) return;
    this.report(`error recovery attempt limit exceeded: ${MAX_RECOVERIES}`, this.position);
    throw new GiveUp();
  }

  private recover(): void {
    this.countRecovery();
    if (this.lastErrorPosition === this.position && this.lastErrorStates.has(this.state)) this.consume();
    this.lastErrorPosition = this.position;
    this.lastErrorStates.add(this.state);
    this.skipUntil(this.recoverySet());
  }

  private skipUntil(tokens: ReadonlySet<TokenType>): void {
    for (let skipped = 0; this.look() !== '<EOF>' && !tokens.has(this.look()); skipped++) {
      if (skipped >= MAX_SKIPPED_TOKENS) {
        const message = `error recovery token lookahead limit exceeded: ${MAX_SKIPPED_TOKENS}`;
        this.issues.push({ message, location: NO_LOCATION });
        throw new GiveUp();
      }
      this.consume();
    }
  }

  /** Tokens at which an active rule could continue. */
  private recoverySet(): ReadonlySet<TokenType> {
    const tokens = new Set<TokenType>();
    for (let frame: Frame | undefined = this.frame; frame?.follow !== undefined; frame = frame.parent) {
      for (const token of this.next(frame.follow).tokens) tokens.add(token);
    }
    return tokens;
  }

  private expectedTokens(): ReadonlySet<TokenType> {
    return this.expectedFrom(this.state);
  }

  private expectedFrom(state: GrammarState): ReadonlySet<TokenType> {
    let following = this.next(state);
    const expected = new Set(following.tokens);
    let frame: Frame | undefined = this.frame;
    while (following.endsRule && frame?.follow !== undefined) {
      following = this.next(frame.follow);
      for (const token of following.tokens) expected.add(token);
      frame = frame.parent;
    }
    if (following.endsRule) expected.add('<EOF>');
    return expected;
  }

  private reportError(error: Mismatch | NoViableAlternative): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    if (error instanceof NoViableAlternative) this.reportNoViable(error);
    else this.report(`mismatched input ${this.quotedToken()} expecting ${verbose(this.expectedTokens())}`, this.position);
  }

  private reportNoViable(error: NoViableAlternative): void {
    const text = this.textBetween(error.start, error.offending);
    // Upstream keeps the older wording for literal names used as fields.
    const reserved = /^\.(true|false|null)$/.exec(text);
    const message =
      reserved === null ? `no viable alternative at input ${quote(text)}` : `mismatched input '${reserved[1]}' expecting IDENTIFIER`;
    this.report(message, error.offending);
  }

  private textBetween(start: number, end: number): string {
    const first = this.tokenAt(start);
    if (first.type === '<EOF>') return '<EOF>';
    const last = this.tokenAt(end);
    const to = last.type === '<EOF>' ? last.offset : last.offset + Array.from(last.text).length;
    return this.source.characters
      .slice(first.offset, to)
      .filter((_, i) => !this.unrecognized.has(first.offset + i))
      .join('');
  }

  private reportUnwanted(): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    this.report(`extraneous input ${this.quotedToken()} expecting ${verbose(this.expectedTokens())}`, this.position);
  }

  private reportMissing(): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    this.report(`missing ${verbose(this.expectedTokens())} at ${this.quotedToken()}`, this.position);
  }

  private quotedToken(): string {
    return quote(this.tokenAt(this.position).text);
  }

  private report(message: string, position: number): void {
    const location = this.source.locationOf(this.tokenAt(position).offset);
    if (this.issues.length >= MAX_ERRORS) {
      this.issues.push({ message: `Syntax error: More than ${MAX_ERRORS} syntax errors`, location });
      throw new GiveUp();
    }
    this.issues.push({ message: `Syntax error: ${message}`, location });
  }
}

function isNumber(type: TokenType): boolean {
  return type === 'NUM_INT' || type === 'NUM_FLOAT';
}

function startOf(piece: Piece, grammar: Grammar): GrammarState {
  switch (piece.kind) {
    case 'sequence': {
      const first = piece.pieces[0];
      return first === undefined ? grammar.start.start : startOf(first, grammar);
    }
    default:
      return piece.state;
  }
}

function quote(text: string): string {
  return `'${text.replace(/\t/g, '\\t').replace(/\n/g, '\\n').replace(/\r/g, '\\r')}'`;
}

function verbose(tokens: ReadonlySet<TokenType>): string {
  const names = TOKEN_ORDER.filter((token) => tokens.has(token)).map((token) => (SYMBOLIC.has(token) ? token : `'${token}'`));
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`;
}
