import type { CelValue } from '../values/value.ts';
import type { CallExpr, ComprehensionExpr, Expr, IdentExpr, ListExpr, LiteralExpr, MapExpr } from './ast.ts';
import { ACCUMULATOR } from './ast.ts';
import type { Location, Source } from './source.ts';

const NO_OPTIONALS: ReadonlySet<number> = new Set();

/** Numbers the nodes of an expression and records their positions. */
export class NodeIds {
  private readonly offsets: number[] = [];
  private readonly source: Source;

  constructor(source: Source) {
    this.source = source;
  }

  next(offset: number): number {
    this.offsets.push(offset);
    return this.offsets.length;
  }

  get count(): number {
    return this.offsets.length;
  }

  offsetOf(id: number): number {
    return this.offsets[id - 1] ?? 0;
  }

  locationOf(id: number): Location {
    return this.source.locationOf(this.offsetOf(id));
  }
}

/** Creates the nodes of a macro's expansion, all at the position of the macro's call. */
export class ExprFactory {
  private readonly ids: NodeIds;
  private readonly offset: number;

  constructor(ids: NodeIds, offset: number) {
    this.ids = ids;
    this.offset = offset;
  }

  private id(): number {
    return this.ids.next(this.offset);
  }

  literal(value: CelValue): LiteralExpr {
    return { kind: 'literal', id: this.id(), value };
  }

  ident(name: string): IdentExpr {
    return { kind: 'ident', id: this.id(), name };
  }

  accumulator(): IdentExpr {
    return this.ident(ACCUMULATOR);
  }

  call(name: string, ...args: readonly Expr[]): CallExpr {
    return { kind: 'call', id: this.id(), function: name, args };
  }

  method(name: string, target: Expr, ...args: readonly Expr[]): CallExpr {
    return { kind: 'call', id: this.id(), function: name, target, args };
  }

  list(...elements: readonly Expr[]): ListExpr {
    return { kind: 'list', id: this.id(), elements, optionals: NO_OPTIONALS };
  }

  emptyMap(): MapExpr {
    return { kind: 'map', id: this.id(), entries: [] };
  }

  presenceTest(operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.id(), operand, field, testOnly: true };
  }

  fold(parts: Omit<ComprehensionExpr, 'kind' | 'id'>): ComprehensionExpr {
    return { kind: 'comprehension', id: this.id(), ...parts };
  }
}
