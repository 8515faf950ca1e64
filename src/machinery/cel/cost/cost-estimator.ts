import type { CheckedExpr } from '../check/checker.ts';
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from '../syntax/ast.ts';
import { ACCUMULATOR, qualifiedName } from '../syntax/ast.ts';
import { type CelType, isOptionalType, param } from '../types.ts';
import { stringSize } from '../values/inspect.ts';
import type { CelValue } from '../values/value.ts';
import { LIST_COST, MAP_COST, SELECT_COST, STRUCT_COST } from './cost-model.ts';
import { type CallEstimate, type Estimate, fixedEstimate, MAX_ESTIMATE, product, sum, sumOf, UNKNOWN, union, ZERO } from './estimate.ts';
import { type EstimatedNode, libraryEstimate } from './library-estimate.ts';
import { standardEstimate } from './standard-estimate.ts';

/**
 * Bounds for the size of the value at a path. The first name is a variable; `@items`, `@values` and
 * `@keys` are the elements of a list and the values and keys of a map.
 */
export type SizeEstimator = (path: readonly string[], type: CelType) => Estimate | undefined;

/** The minimum and maximum cost of an expression, given the known sizes of its variables. */
export function estimateCost(checked: CheckedExpr, sizes: SizeEstimator): Estimate {
  return new CostEstimator(checked, sizes).cost(checked.expr);
}

/** The known sizes of elements of a list or map that the expression builds. */
interface EntrySize {
  readonly container: 'list' | 'map';
  readonly key: Estimate;
  readonly value: Estimate;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Estimate | undefined;
  readonly entries: EntrySize | undefined;
}

const NO_PATH: readonly string[] = [];

class CostEstimator {
  private readonly checked: CheckedExpr;
  private readonly sizes: SizeEstimator;
  private readonly costs = new Map<number, Estimate>();
  private readonly paths = new Map<number, readonly string[]>();
  private readonly locals = new Map<string, Local[]>();
  private readonly computedSizes = new Map<number, Estimate>();
  private readonly entrySizes = new Map<number, EntrySize>();

  constructor(checked: CheckedExpr, sizes: SizeEstimator) {
    this.checked = checked;
    this.sizes = sizes;
  }

  cost(expr: Expr): Estimate {
    const cached = this.costs.get(expr.id);
    if (cached !== undefined) return cached;
    const cost = this.costOfNode(expr);
    this.costs.set(expr.id, cost);
    return cost;
  }

  private costOfNode(expr: Expr): Estimate {
    switch (expr.kind) {
      case 'literal':
        return ZERO;
      case 'ident':
        this.paths.set(expr.id, this.local(expr.name)?.path ?? [expr.name]);
        return fixedEstimate(SELECT_COST);
      case 'select':
        return this.selectCost(expr);
      case 'call':
        return this.callCost(expr);
      case 'list':
        return this.listCost(expr);
      case 'map':
        return this.mapCost(expr);
      case 'struct':
        return sumOf([...expr.fields.map((field) => this.cost(field.value)), fixedEstimate(STRUCT_COST)]);
      case 'comprehension':
        return isBinding(expr) ? this.bindingCost(expr) : this.foldCost(expr);
    }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }

  private push(name: string, local: Local): void {
    this.locals.set(name, [...(this.locals.get(name) ?? []), local]);
  }

  private pop(name: string): void {
    this.locals.set(name, (this.locals.get(name) ?? []).slice(0, -1));
  }

  private pathOf(expr: Expr): readonly string[] {
    const local = expr.kind === 'ident' ? this.local(expr.name) : undefined;
    return local?.path ?? this.paths.get(expr.id) ?? NO_PATH;
  }

  private selectCost(expr: SelectExpr): Estimate {
    if (this.checked.referenceOf(expr) !== undefined) {
      this.paths.set(expr.id, [qualifiedName(expr) ?? '']);
      return fixedEstimate(SELECT_COST);
    }
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.paths.set(expr.id, [...this.pathOf(expr.operand), expr.field]);
    const { kind } = this.checked.typeOf(expr.operand);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? sum(operand, fixedEstimate(SELECT_COST)) : operand;
  }

  private callCost(expr: CallExpr): Estimate {
    if (expr.function === 'dyn') return this.dynCost(expr);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.node(arg));
    const reference = this.checked.referenceOf(expr);
    if (reference?.kind !== 'function') return ZERO;
    const hasTarget = expr.target !== undefined && !reference.isQualified;
    const targetCost = hasTarget && expr.target !== undefined ? this.cost(expr.target) : ZERO;
    const target = hasTarget && expr.target !== undefined ? this.node(expr.target) : undefined;
    let total: Estimate | undefined;
    let resultSize: Estimate | undefined;
    for (const { id } of reference.overloads) {
      const call = this.overloadEstimate({ expr, name: reference.decl.name, overloadId: id, target, args, argCosts });
      total = total === undefined ? call.cost : union(total, call.cost);
      if (call.resultSize !== undefined) resultSize = resultSize === undefined ? call.resultSize : union(resultSize, call.resultSize);
      resultSize = this.indexResult(expr, id, resultSize) ?? resultSize ?? this.computedSize(expr);
    }
    if (resultSize !== undefined) this.computedSizes.set(expr.id, resultSize);
    return sum(targetCost, total ?? ZERO);
  }

  private dynCost(expr: CallExpr): Estimate {
    const [arg] = expr.args;
    if (arg === undefined) return ZERO;
    const cost = this.cost(arg);
    this.copySizes(expr, arg);
    return sum(fixedEstimate(1), cost);
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.computedSize(from);
    if (size !== undefined) this.computedSizes.set(to.id, size);
    this.setEntrySize(to, this.entrySize(from));
  }

  /** Records the path of an index, and returns the size of the elements if known. */
  private indexResult(expr: CallExpr, overloadId: string, current: Estimate | undefined): Estimate | undefined {
    const [operand] = expr.args;
    if (operand === undefined || (overloadId !== 'index_list' && overloadId !== 'index_map')) return current;
    this.paths.set(expr.id, [...this.pathOf(operand), overloadId === 'index_list' ? '@items' : '@values']);
    return this.entrySize(operand)?.value ?? this.computedSize(expr);
  }

  private overloadEstimate(call: {
    readonly expr: CallExpr;
    readonly name: string;
    readonly overloadId: string;
    readonly target: EstimatedNode | undefined;
    readonly args: readonly EstimatedNode[];
    readonly argCosts: readonly Estimate[];
  }): CallEstimate {
    const { expr, overloadId, args, argCosts } = call;
    const library = libraryEstimate(call);
    if (library !== undefined) return { ...library, cost: sumOf([library.cost, ...argCosts]) };
    const [first, second, third] = argCosts;
    if ((overloadId === 'logical_or' || overloadId === 'logical_and') && first !== undefined && second !== undefined) {
      return { cost: { min: first.min, max: sum(first, second).max } };
    }
    if (overloadId === 'conditional' && first !== undefined && second !== undefined && third !== undefined) {
      this.joinEntries(expr, args[1], args[2]);
      const size = union(args[1]?.computedSize ?? UNKNOWN, args[2]?.computedSize ?? UNKNOWN);
      return { cost: sum(first, union(second, third)), resultSize: size };
    }
    if (overloadId.startsWith('add_')) this.joinEntries(expr, args[0], args[1]);
    const standard = standardEstimate(call);
    return { ...standard, cost: sumOf([standard.cost, ...argCosts]) };
  }

  private joinEntries(expr: Expr, a: EstimatedNode | undefined, b: EstimatedNode | undefined): void {
    const left = a && this.entrySize(a.expr);
    const right = b && this.entrySize(b.expr);
    if (left === undefined || right === undefined) return;
    this.setEntrySize(expr, { container: left.container, key: union(left.key, right.key), value: union(left.value, right.value) });
  }

  private listCost(expr: ListExpr): Estimate {
    const costs = expr.elements.map((element) => this.cost(element));
    const value = rangeOf(expr.elements.map((element) => this.computedSize(element) ?? UNKNOWN));
    this.setEntrySize(expr, { container: 'list', key: fixedEstimate(1), value });
    return sumOf([...costs, fixedEstimate(LIST_COST)]);
  }

  private mapCost(expr: MapExpr): Estimate {
    const costs = expr.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
    const key = rangeOf(expr.entries.map((entry) => this.computedSize(entry.key) ?? UNKNOWN));
    const value = rangeOf(expr.entries.map((entry) => this.computedSize(entry.value) ?? UNKNOWN));
    this.setEntrySize(expr, { container: 'map', key, value });
    return sumOf([...costs, fixedEstimate(MAP_COST)]);
  }

  private bindingCost(expr: ComprehensionExpr): Estimate {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    this.pushBinding(expr.accuVar, expr.accuInit);
    const result = this.cost(expr.result);
    this.pop(expr.accuVar);
    this.copySizes(expr, expr.result);
    return sum(before, result);
  }

  private pushBinding(name: string, init: Expr): void {
    this.push(name, { path: this.pathOf(init), size: this.computedSize(init), entries: this.entrySize(init) });
  }

  private foldCost(expr: ComprehensionExpr): Estimate {
    const before = sum(this.cost(expr.range), this.cost(expr.accuInit));
    this.pushBinding(expr.accuVar, expr.accuInit);
    this.pushLoopVariables(expr);
    const round = sum(this.cost(expr.condition), this.cost(expr.step));
    this.pop(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.pop(expr.iterVar2);
    const result = this.cost(expr.result);
    this.pop(expr.accuVar);
    const rounds = this.computedSize(expr.range) ?? UNKNOWN;
    this.noteFoldSize(expr, rounds);
    return sum(before, result, product(rounds, round));
  }

  private noteFoldSize(expr: ComprehensionExpr, rounds: Estimate): void {
    const size = expr.accuInit.kind === 'literal' ? this.computedSize(expr.accuInit) : rounds;
    if (size !== undefined && ['literal', 'list', 'map'].includes(expr.accuInit.kind)) this.computedSizes.set(expr.id, size);
    if (expr.accuInit.kind !== 'literal') this.setEntrySize(expr, this.entrySize(expr.step));
  }

  private pushLoopVariables(expr: ComprehensionExpr): void {
    const entries = this.entrySize(expr.range);
    const isList = (entries?.container ?? this.checked.typeOf(expr.range).kind) === 'list';
    const path = this.pathOf(expr.range);
    const element: Local = { path: [...path, isList ? '@items' : '@values'], size: entries?.value, entries: undefined };
    const key: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key, entries: undefined };
    if (expr.iterVar2 === undefined) {
      this.push(expr.iterVar, isList ? element : { ...key, path: [...path, '@keys'] });
      return;
    }
    this.push(expr.iterVar, key);
    this.push(expr.iterVar2, element);
  }

  private entrySize(expr: Expr): EntrySize | undefined {
    const cached = this.entrySizes.get(expr.id);
    return cached ?? (expr.kind === 'ident' ? this.local(expr.name)?.entries : undefined);
  }

  private setEntrySize(expr: Expr, entries: EntrySize | undefined): void {
    if (entries !== undefined) this.entrySizes.set(expr.id, entries);
  }

  private computedSize(expr: Expr): Estimate | undefined {
    const size = this.computedSizes.get(expr.id) ?? literalSize(expr);
    if (size !== undefined) return size;
    const path = this.pathOf(expr);
    const type = this.checked.typeOf(expr);
    const declared = path.length === 0 ? undefined : this.sizes(path, type);
    if (declared !== undefined) {
      this.computedSizes.set(expr.id, declared);
      return declared;
    }
    if (isScalar(type)) return fixedEstimate(1);
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined;
  }

  private node(expr: Expr): EstimatedNode {
    const type = this.checked.typeOf(expr);
    const computedSize = this.computedSize(expr);
    return { expr, type, computedSize, size: computedSize ?? UNKNOWN, element: this.elementOf(expr, type) };
  }

  private elementOf(expr: Expr, type: CelType): EstimatedNode['element'] {
    const element = type.params[0];
    if (element === undefined) return undefined;
    const path = this.pathOf(expr);
    const hasPath = path.length > 0 && path[0] !== ACCUMULATOR;
    const size = hasPath ? this.sizes([...path, '@items'], element) : undefined;
    return { type: element, size: size ?? UNKNOWN };
  }
}

function rangeOf(sizes: readonly Estimate[]): Estimate {
  return sizes.length === 0 ? ZERO : sizes.reduce(union, { min: MAX_ESTIMATE, max: 0 });
}

/** A fold without iterations: a bound name. */
function isBinding(expr: ComprehensionExpr): boolean {
  return expr.shape.kind === 'bind';
}

function literalSize(expr: Expr): Estimate | undefined {
  switch (expr.kind) {
    case 'literal':
      return fixedEstimate(valueSize(expr.value));
    case 'list':
      return fixedEstimate(expr.elements.length);
    case 'map':
      return fixedEstimate(expr.entries.length);
    default:
      return undefined;
  }
}

function valueSize(value: CelValue): number {
  if (typeof value === 'string') return stringSize(value);
  return value instanceof Uint8Array ? value.length : 1;
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

function isScalar(type: CelType): boolean {
  return isOptionalType(type) ? isScalar(param(type, 0)) : SCALARS.has(type.kind);
}
