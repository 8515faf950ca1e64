import type { CelValue } from '../values/value.ts';

/**
 * A node of a parsed expression. Ids are small integers, unique within the expression. A macro may use one node in two places, always with the same
 * variables: tree walks should visit each node once.
 */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr;

export interface LiteralExpr {
  readonly kind: 'literal';
  readonly id: number;
  readonly value: CelValue;
}

export interface IdentExpr {
  readonly kind: 'ident';
  readonly id: number;
  readonly name: string;
}

/** `operand.field`, or its presence test `has(operand.field)`. */
export interface SelectExpr {
  readonly kind: 'select';
  readonly id: number;
  readonly operand: Expr;
  readonly field: string;
  readonly testOnly: boolean;
}

export interface CallExpr {
  readonly kind: 'call';
  readonly id: number;
  readonly function: string;
  readonly target?: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface ListExpr {
  readonly kind: 'list';
  readonly id: number;
  readonly elements: readonly Expr[];
  /** Which elements are optional: `[?x]`. */
  readonly optionals: ReadonlySet<number>;
}

export interface MapExpr {
  readonly kind: 'map';
  readonly id: number;
  readonly entries: readonly MapEntryExpr[];
}

export interface MapEntryExpr {
  readonly id: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface StructExpr {
  readonly kind: 'struct';
  readonly id: number;
  readonly typeName: string;
  readonly fields: readonly StructFieldExpr[];
}

export interface StructFieldExpr {
  readonly id: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/**
 * A fold over a range: the expansion of every comprehension macro. Type checking and cost estimation use the parts (`accuInit`, `condition`, `step`,
 * `result`), the evaluator uses `shape`.
 */
export interface ComprehensionExpr {
  readonly kind: 'comprehension';
  readonly id: number;
  readonly range: Expr;
  readonly iterVar: string;
  readonly iterVar2?: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
  readonly shape: FoldShape;
}

export type FoldShape =
  | { readonly kind: 'all' | 'exists' | 'existsOne'; readonly predicate: Expr }
  /** Collects `element`, for those that pass the filter. */
  | { readonly kind: 'append'; readonly element: Expr; readonly filter: Expr | undefined }
  /** Collects the first variable as key of `value`. */
  | { readonly kind: 'insert'; readonly value: Expr; readonly filter: Expr | undefined }
  /** Collects the entries of `map`. */
  | { readonly kind: 'merge'; readonly map: Expr; readonly filter: Expr | undefined }
  /** Binds `accuInit`, evaluated when first needed, to `accuVar` within `result`. */
  | { readonly kind: 'bind' };

/** The accumulator variable of a fold; not a valid identifier in source text. */
export const ACCUMULATOR = '@result';
export const UNUSED_VARIABLE = '#unused';

/** The direct parts of a node, in source order. */
export function children(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
  }
}

/** `a.b.c` where the node is nothing but names, else undefined. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
