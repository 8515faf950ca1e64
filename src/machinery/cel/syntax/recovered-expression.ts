import { isReservedWord } from '../escaping.ts';
import type { Expr } from './ast.ts';
import { ExprFactory, NodeIds } from './expr-factory.ts';
import type { RuleName } from './grammar.ts';
import type { Token } from './lexer.ts';
import { LiteralError, literalValue } from './literals.ts';
import { type Macro, MacroError, macroKey } from './macros.ts';
import { type Issue, NO_LOCATION, type Source } from './source.ts';

const MAX_RECURSION = 250;

/** What the recovering parser read: of a rule, of one of its alternatives, or of an optional or repeated part. A part that failed lacks the rest. */
export interface SyntaxNode {
  readonly rule: RuleName | undefined;
  readonly alternative: number;
  readonly items: (SyntaxNode | Token)[];
  /** Where it starts, in characters. */
  readonly offset: number;
}

export const NO_ALTERNATIVE = -1;

/** What is wrong with an expression beyond the grammar, as far as it could be read. */
export function recoveredIssues(tree: SyntaxNode, source: Source, macros: readonly Macro[]): readonly Issue[] {
  const visitor = new RecoveredExpression(source, macros);
  try {
    visitor.expression(ruleIn(tree, 'expr'));
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    visitor.issues.push({ message: 'max recursion depth exceeded', location: NO_LOCATION });
  }
  return visitor.issues;
}

class TooDeep {}

/** Of parts that could not be read: upstream gives their errors the column before the first. */
const NO_OFFSET = -1;

function isNode(item: SyntaxNode | Token | undefined): item is SyntaxNode {
  return item !== undefined && 'items' in item;
}

function nodesIn(node: SyntaxNode): readonly SyntaxNode[] {
  return node.items.filter(isNode);
}

/** Walks the direct parts of a node, without what groups them: alternatives, optional and repeated parts. */
function walk(node: SyntaxNode, visit: (part: SyntaxNode | Token) => void): void {
  for (const item of node.items) {
    if (isNode(item) && item.rule === undefined) walk(item, visit);
    else visit(item);
  }
}

function rulesIn(node: SyntaxNode, name: RuleName): readonly SyntaxNode[] {
  const rules: SyntaxNode[] = [];
  walk(node, (part) => {
    if (isNode(part) && part.rule === name) rules.push(part);
  });
  return rules;
}

function ruleIn(node: SyntaxNode, name: RuleName): SyntaxNode | undefined {
  return rulesIn(node, name)[0];
}

function tokensIn(node: SyntaxNode): readonly Token[] {
  const tokens: Token[] = [];
  walk(node, (part) => {
    if (!isNode(part)) tokens.push(part);
  });
  return tokens;
}

/** The parts of `member` after the first, by the grammar's alternatives. */
const SELECT = 0;
const MEMBER_CALL = 1;

const EVEN = (count: number) => count % 2 === 0;

// One file: the parts of an expression contain each other.
class RecoveredExpression {
  readonly issues: Issue[] = [];
  private readonly source: Source;
  private readonly ids: NodeIds;
  private readonly macros: ReadonlyMap<string, Macro>;
  private depth = 0;

  constructor(source: Source, macros: readonly Macro[]) {
    this.source = source;
    this.ids = new NodeIds(source);
    this.macros = new Map(macros.map((macro) => [macroKey(macro.name, macro.argCount, macro.isMethod), macro]));
  }

  expression(node: SyntaxNode | undefined): Expr {
    const [condition, whenTrue] = node === undefined ? [] : rulesIn(node, 'conditionalOr');
    if (node === undefined || condition === undefined) return this.unread();
    const op = tokensIn(node)[0];
    if (op === undefined) return this.disjunction(condition);
    this.deeper(1);
    const args = [this.disjunction(condition), this.disjunction(whenTrue), this.expression(ruleIn(node, 'expr'))];
    this.depth--;
    return this.call('_?_:_', op.offset, args);
  }

  private disjunction(node: SyntaxNode | undefined): Expr {
    return this.terms(node, 'conditionalAnd', (term) => this.terms(term, 'relation', (part) => this.binary(part, 'relation')));
  }

  /** Terms of `||` or `&&`. */
  private terms(node: SyntaxNode | undefined, rule: RuleName, read: (term: SyntaxNode) => Expr): Expr {
    const [first = this.unread(), ...rest] = node === undefined ? [] : rulesIn(node, rule).map(read);
    return rest.length === 0 ? first : this.call('_||_', node?.offset ?? NO_OFFSET, [first, ...rest]);
  }

  /** Operators of one rank, from the left; upstream visits the last one first. */
  private binary(node: SyntaxNode, rule: 'relation' | 'calc'): Expr {
    const operands = rulesIn(node, rule);
    const ops = tokensIn(node);
    this.deeper(operands.length);
    let left = this.firstOperand(node, rule);
    operands.forEach((operand, i) => {
      left = this.call('_+_', ops[i]?.offset ?? NO_OFFSET, [left, this.binary(operand, rule)]);
      this.depth--;
    });
    return left;
  }

  private firstOperand(node: SyntaxNode, rule: 'relation' | 'calc'): Expr {
    if (rule === 'calc') return this.unary(ruleIn(node, 'unary'));
    const first = ruleIn(node, 'calc');
    return first === undefined ? this.unread() : this.binary(first, 'calc');
  }

  private unary(node: SyntaxNode | undefined): Expr {
    if (node === undefined) return this.unread();
    if (nodesIn(node).length === 0) return this.unread(node.offset);
    const member = ruleIn(node, 'member');
    const operand = member === undefined ? this.unread() : this.member(member);
    const [op, ...further] = tokensIn(node);
    return op === undefined || EVEN(further.length + 1) ? operand : this.call('!_', op.offset, [operand]);
  }

  private member(node: SyntaxNode): Expr {
    const rounds = nodesIn(node)
      .filter(({ rule }) => rule === undefined)
      .flatMap(nodesIn)
      .filter(({ alternative }) => alternative !== NO_ALTERNATIVE);
    this.deeper(rounds.filter(({ alternative }) => alternative !== MEMBER_CALL).length);
    let operand = this.primary(ruleIn(node, 'primary'));
    for (const round of rounds) {
      if (round.alternative === SELECT) operand = this.selection(round, operand);
      else if (round.alternative === MEMBER_CALL) operand = this.memberCall(round, operand);
      else operand = this.index(round, operand);
      if (round.alternative !== MEMBER_CALL) this.depth--;
    }
    return operand;
  }

  private selection(node: SyntaxNode, operand: Expr): Expr {
    const [dot, optional] = tokensIn(node);
    const name = ruleIn(node, 'escapeIdent');
    if (dot === undefined || name === undefined) return this.unread(node.offset);
    const field = this.fieldName(name, name.offset) ?? '';
    if (optional !== undefined) return this.call('_?._', dot.offset, [operand]);
    return { kind: 'select', id: this.ids.next(dot.offset), operand, field, testOnly: false };
  }

  private fieldName(node: SyntaxNode | undefined, offset: number): string | undefined {
    const name = node === undefined ? undefined : tokensIn(node)[0];
    if (name?.type === 'IDENTIFIER') return name.text;
    this.report(name === undefined ? 'unsupported ident kind' : "unsupported syntax: '`'", offset);
    return undefined;
  }

  private memberCall(node: SyntaxNode, target: Expr): Expr {
    const [, name, open] = tokensIn(node);
    if (name === undefined) return this.unread(node.offset);
    return this.callOrMacro({ name: name.text, offset: open?.offset ?? NO_OFFSET, target, args: this.callArguments(node) });
  }

  private callArguments(node: SyntaxNode): readonly Expr[] {
    const list = ruleIn(node, 'exprList');
    return list === undefined ? [] : rulesIn(list, 'expr').map((arg) => this.expression(arg));
  }

  private index(node: SyntaxNode, operand: Expr): Expr {
    const open = tokensIn(node)[0];
    if (open === undefined) return this.unread(node.offset);
    return this.call('_[_]', open.offset, [operand, this.expression(ruleIn(node, 'expr'))]);
  }

  private primary(node: SyntaxNode | undefined): Expr {
    const chosen = node === undefined ? undefined : nodesIn(node)[0];
    if (chosen === undefined) return this.unread();
    switch (chosen.alternative) {
      case 0:
      case 1:
        return this.named(chosen);
      case 2:
        return this.expression(ruleIn(chosen, 'expr'));
      case 3:
        return this.list(chosen);
      case 4:
        return this.map(chosen);
      case 5:
        return this.struct(chosen);
      default:
        return this.literal(ruleIn(chosen, 'literal'));
    }
  }

  private named(node: SyntaxNode): Expr {
    const tokens = tokensIn(node);
    const name = tokens.find(({ type }) => type === 'IDENTIFIER');
    if (name === undefined) return this.unread(node.offset);
    if (isReservedWord(name.text)) {
      this.report(`reserved identifier: ${name.text}`, node.offset);
      return this.unread(node.offset);
    }
    const open = tokens.find(({ type }) => type === '(');
    if (open !== undefined)
      return this.callOrMacro({ name: name.text, offset: open.offset, target: undefined, args: this.callArguments(node) });
    return { kind: 'ident', id: this.ids.next(name.offset), name: (tokens[0] === name ? '' : '.') + name.text };
  }

  private list(node: SyntaxNode): Expr {
    const init = ruleIn(node, 'listInit');
    const elements = init === undefined ? [] : rulesIn(init, 'optExpr').map((element) => this.expression(ruleIn(element, 'expr')));
    return { kind: 'list', id: this.ids.next(node.offset), elements, optionals: new Set() };
  }

  private map(node: SyntaxNode): Expr {
    const init = ruleIn(node, 'mapInitializerList');
    const [keys, values] = init === undefined ? [[], []] : [rulesIn(init, 'optExpr'), rulesIn(init, 'expr')];
    // Keys without a colon are skipped.
    const colons = init === undefined ? 0 : tokensIn(init).filter(({ type }) => type === ':').length;
    for (let i = 0; i < Math.min(colons, keys.length, values.length); i++) {
      this.expression(ruleIn(keys[i] as SyntaxNode, 'expr'));
      this.expression(values[i]);
    }
    return { kind: 'map', id: this.ids.next(node.offset), entries: [] };
  }

  private struct(node: SyntaxNode): Expr {
    const init = ruleIn(node, 'fieldInitializerList');
    const [fields, values] = init === undefined ? [[], []] : [rulesIn(init, 'optField'), rulesIn(init, 'expr')];
    for (let i = 0; i < Math.min(fields.length, values.length); i++) {
      const name = this.fieldName(ruleIn(fields[i] as SyntaxNode, 'escapeIdent'), init?.offset ?? NO_OFFSET);
      if (name !== undefined) this.expression(values[i]);
    }
    return { kind: 'struct', id: this.ids.next(node.offset), typeName: '', fields: [] };
  }

  private literal(node: SyntaxNode | undefined): Expr {
    const token = node === undefined ? undefined : tokensIn(node).at(-1);
    if (node === undefined || token === undefined) return this.unread();
    const value = literalValue(token, tokensIn(node).length > 1 ? '-' : '');
    if (value instanceof LiteralError) this.report(value.message, node.offset);
    return this.unread(node.offset);
  }

  private callOrMacro(call: { name: string; offset: number; target: Expr | undefined; args: readonly Expr[] }): Expr {
    const { name, offset, target, args } = call;
    const macro = this.macros.get(macroKey(name, args.length, target !== undefined));
    const expanded = macro?.expand({ factory: new ExprFactory(this.ids, offset), target, args });
    if (expanded instanceof MacroError) {
      this.report(expanded.message, this.ids.offsetOf(expanded.node.id));
      return this.unread(offset);
    }
    return expanded ?? this.call(name, offset, args);
  }

  private call(name: string, offset: number, args: readonly Expr[]): Expr {
    return { kind: 'call', id: this.ids.next(offset), function: name, args };
  }

  /** Stands for what is not there, and for literals: nothing looks into them. */
  private unread(offset = NO_OFFSET): Expr {
    return { kind: 'literal', id: this.ids.next(offset), value: null };
  }

  private deeper(levels: number): void {
    this.depth += levels;
    if (this.depth > MAX_RECURSION) throw new TooDeep();
  }

  private report(message: string, offset: number): void {
    this.issues.push({ message, location: this.source.locationOf(offset) });
  }
}
