import type { TokenType } from './lexer.ts';

/**
 * The grammar as a state network, as upstream's parser generator builds it. Used to report the expected tokens of a syntax error in the same words
 * and order.
 */
export interface GrammarState {
  readonly id: number;
  /** How the generated parser treats the state when the next token does not fit. */
  readonly kind: 'plain' | 'block' | 'loopBack' | 'ruleStop';
  readonly edges: GrammarEdge[];
}

type GrammarEdge =
  | { readonly kind: 'epsilon'; readonly target: GrammarState }
  | { readonly kind: 'tokens'; readonly tokens: readonly TokenType[]; readonly target: GrammarState }
  | { readonly kind: 'rule'; readonly rule: RuleName; readonly target: GrammarState };

export type RuleName =
  | 'start'
  | 'expr'
  | 'conditionalOr'
  | 'conditionalAnd'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInitializerList'
  | 'optField'
  | 'mapInitializerList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal';

/** A piece of a rule. `state` is the generated parser's state when it decides about the piece. */
export type Piece =
  | { readonly kind: 'tokens'; readonly state: GrammarState; readonly follow: GrammarState; readonly tokens: readonly TokenType[] }
  /** `precedence` limits the operators that a left-recursive rule may still take. */
  | {
      readonly kind: 'rule';
      readonly state: GrammarState;
      readonly follow: GrammarState;
      readonly rule: RuleName;
      readonly precedence: number;
    }
  | { readonly kind: 'sequence'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'choice'; readonly state: GrammarState; readonly alternatives: readonly Piece[] }
  | { readonly kind: 'optional'; readonly state: GrammarState; readonly piece: Piece }
  /** `again` is where the parser is after a round of the loop. */
  | {
      readonly kind: 'loop';
      readonly state: GrammarState;
      readonly again: GrammarState;
      readonly piece: Piece;
      readonly atLeastOnce: boolean;
    };

export interface GrammarRule {
  readonly start: GrammarState;
  readonly body: Piece;
}

export type Grammar = Readonly<Record<RuleName, GrammarRule>>;

type Builder = (grammar: GrammarBuilder, follow: GrammarState) => { readonly piece: Piece; readonly start: GrammarState };

class GrammarBuilder {
  private count = 0;

  state(kind: GrammarState['kind'] = 'plain'): GrammarState {
    return { id: this.count++, kind, edges: [] };
  }

  rule(build: Builder): GrammarRule {
    const { piece, start } = build(this, this.state('ruleStop'));
    return { start, body: piece };
  }
}

function tokens(...types: readonly TokenType[]): Builder {
  return (grammar, follow) => {
    const state = grammar.state();
    state.edges.push({ kind: 'tokens', tokens: types, target: follow });
    return { piece: { kind: 'tokens', state, follow, tokens: types }, start: state };
  };
}

function rule(name: RuleName, precedence = 0): Builder {
  return (grammar, follow) => {
    const state = grammar.state();
    state.edges.push({ kind: 'rule', rule: name, target: follow });
    return { piece: { kind: 'rule', state, follow, rule: name, precedence }, start: state };
  };
}

function sequence(...builders: readonly Builder[]): Builder {
  return (grammar, follow) => {
    const pieces: Piece[] = [];
    let start = follow;
    for (const build of builders.toReversed()) {
      const built = build(grammar, start);
      pieces.unshift(built.piece);
      start = built.start;
    }
    return { piece: { kind: 'sequence', pieces }, start };
  };
}

function choice(...builders: readonly Builder[]): Builder {
  return (grammar, follow) => {
    const state = grammar.state('block');
    const alternatives = builders.map((build) => {
      const built = build(grammar, follow);
      state.edges.push({ kind: 'epsilon', target: built.start });
      return built.piece;
    });
    return { piece: { kind: 'choice', state, alternatives }, start: state };
  };
}

function optional(builder: Builder): Builder {
  return (grammar, follow) => {
    const state = grammar.state('block');
    const built = builder(grammar, follow);
    state.edges.push({ kind: 'epsilon', target: built.start }, { kind: 'epsilon', target: follow });
    return { piece: { kind: 'optional', state, piece: built.piece }, start: state };
  };
}

function loop(builder: Builder, atLeastOnce = false): Builder {
  return (grammar, follow) => {
    const again = grammar.state('loopBack');
    const state = grammar.state('block');
    const built = builder(grammar, again);
    state.edges.push({ kind: 'epsilon', target: built.start });
    if (!atLeastOnce) state.edges.push({ kind: 'epsilon', target: follow });
    again.edges.push({ kind: 'epsilon', target: built.start }, { kind: 'epsilon', target: follow });
    return { piece: { kind: 'loop', state, again, piece: built.piece, atLeastOnce }, start: state };
  };
}

const RELATION_TOKENS = ['==', '!=', 'in', '<', '<=', '>=', '>'] as const;

/** Builds the grammar. Only needed for syntax errors, so it is not kept. */
export function buildGrammar(): Grammar {
  const g = new GrammarBuilder();
  const separated = (element: Builder): Builder => sequence(element, loop(sequence(tokens(','), element)));
  const keyed = (key: RuleName): Builder => sequence(rule(key), tokens(':'), rule('expr'));
  const identifier = sequence(optional(tokens('.')), tokens('IDENTIFIER'));
  return {
    start: g.rule(sequence(rule('expr'), tokens('<EOF>'))),
    expr: g.rule(sequence(rule('conditionalOr'), optional(sequence(tokens('?'), rule('conditionalOr'), tokens(':'), rule('expr'))))),
    conditionalOr: g.rule(sequence(rule('conditionalAnd'), loop(sequence(tokens('||'), rule('conditionalAnd'))))),
    conditionalAnd: g.rule(sequence(rule('relation'), loop(sequence(tokens('&&'), rule('relation'))))),
    // bounded: spread lists are constants
    relation: g.rule(sequence(rule('calc'), loop(sequence(tokens(...RELATION_TOKENS), rule('relation', 2))))),
    calc: g.rule(
      sequence(rule('unary'), loop(choice(sequence(tokens('*', '/', '%'), rule('calc', 3)), sequence(tokens('-', '+'), rule('calc', 2))))),
    ),
    unary: g.rule(
      choice(rule('member'), sequence(loop(tokens('!'), true), rule('member')), sequence(loop(tokens('-'), true), rule('member'))),
    ),
    member: g.rule(
      sequence(
        rule('primary'),
        loop(
          choice(
            sequence(tokens('.'), optional(tokens('?')), rule('escapeIdent')),
            sequence(tokens('.'), tokens('IDENTIFIER'), tokens('('), optional(rule('exprList')), tokens(')')),
            sequence(tokens('['), optional(tokens('?')), rule('expr'), tokens(']')),
          ),
        ),
      ),
    ),
    primary: g.rule(
      choice(
        identifier,
        sequence(identifier, tokens('('), optional(rule('exprList')), tokens(')')),
        sequence(tokens('('), rule('expr'), tokens(')')),
        sequence(tokens('['), optional(rule('listInit')), optional(tokens(',')), tokens(']')),
        sequence(tokens('{'), optional(rule('mapInitializerList')), optional(tokens(',')), tokens('}')),
        sequence(
          identifier,
          loop(sequence(tokens('.'), tokens('IDENTIFIER'))),
          tokens('{'),
          optional(rule('fieldInitializerList')),
          optional(tokens(',')),
          tokens('}'),
        ),
        rule('literal'),
      ),
    ),
    exprList: g.rule(separated(rule('expr'))),
    listInit: g.rule(separated(rule('optExpr'))),
    fieldInitializerList: g.rule(separated(keyed('optField'))),
    optField: g.rule(sequence(optional(tokens('?')), rule('escapeIdent'))),
    mapInitializerList: g.rule(separated(keyed('optExpr'))),
    escapeIdent: g.rule(choice(tokens('IDENTIFIER'), tokens('ESC_IDENTIFIER'))),
    optExpr: g.rule(sequence(optional(tokens('?')), rule('expr'))),
    literal: g.rule(
      choice(
        sequence(optional(tokens('-')), tokens('NUM_INT')),
        tokens('NUM_UINT'),
        sequence(optional(tokens('-')), tokens('NUM_FLOAT')),
        tokens('STRING'),
        tokens('BYTES'),
        tokens('true'),
        tokens('false'),
        tokens('null'),
      ),
    ),
  };
}

/** Tokens that may follow; `endsRule` if the rule may also end. */
export interface NextTokens {
  readonly tokens: ReadonlySet<TokenType>;
  readonly endsRule: boolean;
}

/** What may come next from a state, within its rule. */
export function nextTokens(grammar: Grammar, from: GrammarState): NextTokens {
  const tokens = new Set<TokenType>();
  const endsRule = collect({ grammar, tokens, visited: new Set() }, from, []);
  return { tokens: tokens, endsRule };
}

interface Search {
  readonly grammar: Grammar;
  readonly tokens: Set<TokenType>;
  readonly visited: Set<string>;
}

/** Walks from a state; returns whether the starting rule can end without a token. */
function collect(search: Search, state: GrammarState, returns: readonly GrammarState[]): boolean {
  const key = [state, ...returns].map((s) => s.id).join();
  if (search.visited.has(key)) return false;
  search.visited.add(key);
  if (state.kind === 'ruleStop') {
    const back = returns.at(-1);
    return back === undefined ? true : collect(search, back, returns.slice(0, -1));
  }
  let ends = false;
  for (const edge of state.edges) {
    if (edge.kind === 'tokens') for (const token of edge.tokens) search.tokens.add(token);
    else if (edge.kind === 'epsilon') ends = collect(search, edge.target, returns) || ends;
    else ends = collect(search, search.grammar[edge.rule].start, [...returns, edge.target]) || ends;
  }
  return ends;
}
