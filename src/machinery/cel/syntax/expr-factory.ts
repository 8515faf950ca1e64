import type { CelValue } from '../values/value.ts';
import type { CallExpr, ComprehensionExpr, Expr, IdentExpr, ListExpr, LiteralExpr, MapExpr } from './ast.ts';
import { ACCUMULATOR } from './ast.ts';
import type { Location, Source } from './source.ts';

const NO_OPTIONALS: ReadonlySet<number> = new Set();

/** Numbers the nodes of an expression and remembers where in the text each stands. */
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

/** Makes the nodes a macro expands to; all of them stand where the macro's call stands. */
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

  /** A copy of a node with ids of its own, at the same places. */
  copy(expr: Expr): Expr {
    const id = this.ids.next(this.ids.offsetOf(expr.id));
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) };
      case 'call':
        return { ...expr, id, target: expr.target && this.copy(expr.target), args: expr.args.map((arg) => this.copy(arg)) };
      case 'list':
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) };
      case 'map':
        return {
          ...expr,
          id,
          entries: expr.entries.map((e) => ({ ...e, id: this.id(), key: this.copy(e.key), value: this.copy(e.value) })),
        };
      case 'struct':
        return { ...expr, id, fields: expr.fields.map((f) => ({ ...f, id: this.id(), value: this.copy(f.value) })) };
      case 'comprehension':
        return this.copyFold(expr, id);
    }
  }

  private copyFold(fold: ComprehensionExpr, id: number): ComprehensionExpr {
    const copies = new Map<Expr, Expr>();
    const copy = (expr: Expr): Expr => this.copyTracked(expr, copies);
    const parts = {
      range: copy(fold.range),
      accuInit: copy(fold.accuInit),
      condition: copy(fold.condition),
      step: copy(fold.step),
      result: copy(fold.result),
    };
    return { ...fold, ...parts, id, shape: mapShape(fold.shape, (expr) => copies.get(expr) ?? copy(expr)) };
  }

  // A fold's shape refers to nodes inside its step; the copy's shape must refer to their copies.
  private copyTracked(expr: Expr, copies: Map<Expr, Expr>): Expr {
    const tracker = new TrackingCopy(this.ids, this.offset, copies);
    return tracker.copy(expr);
  }
}

class TrackingCopy extends ExprFactory {
  private readonly copies: Map<Expr, Expr>;

  constructor(ids: NodeIds, offset: number, copies: Map<Expr, Expr>) {
    super(ids, offset);
    this.copies = copies;
  }

  override copy(expr: Expr): Expr {
    const copied = super.copy(expr);
    this.copies.set(expr, copied);
    return copied;
  }
}

function mapShape(shape: ComprehensionExpr['shape'], map: (expr: Expr) => Expr): ComprehensionExpr['shape'] {
  switch (shape.kind) {
    case 'bind':
      return shape;
    case 'append':
      return { ...shape, element: map(shape.element), filter: shape.filter && map(shape.filter) };
    case 'insert':
      return { ...shape, value: map(shape.value), filter: shape.filter && map(shape.filter) };
    case 'merge':
      return { ...shape, map: map(shape.map), filter: shape.filter && map(shape.filter) };
    default:
      return { ...shape, predicate: map(shape.predicate) };
  }
}
