import { LIST_COST } from '../cost/cost-model.ts';
import { insertEntry } from '../library/optionals.ts';
import type { ComprehensionExpr, Expr, FoldShape } from '../syntax/ast.ts';
import { CelList, CelMap, MapBuilder } from '../values/containers.ts';
import { type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';
import { charge, countVisits, type EvalContext, type Evaluate, isConstant, type Plan } from './context.ts';
import { requireRange } from './operators.ts';
import type { Planner } from './planner.ts';

/** Visits the elements of a range until the visitor stops. */
type Visit = (context: EvalContext) => boolean;
type Iterate = (context: EvalContext, visit: Visit) => void;

/** A macro's loop, or the binding of a name. */
export function planFold(planner: Planner, expr: ComprehensionExpr): Plan {
  const { shape } = expr;
  const evaluate = shape.kind === 'bind' ? planBinding(planner, expr) : planLoop(planner, expr, shape);
  return { evaluate, attributeCost: 0 };
}

const UNBOUND: unique symbol = Symbol('unbound');

function planBinding(planner: Planner, expr: ComprehensionExpr): Evaluate {
  const init = planner.plan(expr.accuInit).evaluate;
  const slot = planner.newSlot();
  const read: Evaluate = (context) => {
    const locals = context.locals as (CelValue | typeof UNBOUND)[];
    const local = locals[slot];
    if (local !== undefined && local !== UNBOUND) return local;
    const value = init(context);
    context.locals[slot] = value;
    return value;
  };
  const body = planner.within([{ name: expr.accuVar, slot, read }], () => planner.plan(expr.result).evaluate);
  return (context) => {
    (context.locals as (CelValue | typeof UNBOUND)[])[slot] = UNBOUND;
    return body(context);
  };
}

function planLoop(planner: Planner, expr: ComprehensionExpr, shape: Exclude<FoldShape, { kind: 'bind' }>): Evaluate {
  const range = planner.plan(expr.range).evaluate;
  const slot = planner.newSlot();
  const secondSlot = expr.iterVar2 === undefined ? undefined : planner.newSlot();
  const variables = [{ name: expr.iterVar, slot, read: reader(slot) }];
  if (expr.iterVar2 !== undefined && secondSlot !== undefined) {
    variables.push({ name: expr.iterVar2, slot: secondSlot, read: reader(secondSlot) });
  }
  const iterate = iteration(range, slot, secondSlot);
  return planner.within(variables, () => planShape({ planner, iterate, slot }, shape));
}

function reader(slot: number): Evaluate {
  return ({ locals }) => locals[slot] as CelValue;
}

function iteration(range: Evaluate, slot: number, secondSlot: number | undefined): Iterate {
  return (context, visit) => {
    const container = requireRange(range(context), secondSlot !== undefined);
    if (container instanceof CelList) iterateList(container, { context, visit, slot, secondSlot });
    else iterateMap(container, { context, visit, slot, secondSlot });
  };
}

interface Iteration {
  readonly context: EvalContext;
  readonly visit: Visit;
  readonly slot: number;
  readonly secondSlot: number | undefined;
}

function iterateList(list: CelList, { context, visit, slot, secondSlot }: Iteration): void {
  const { locals } = context;
  const { size } = list;
  for (let i = 0; i < size; i++) {
    countVisits(context);
    if (secondSlot === undefined) locals[slot] = list.get(i);
    else {
      locals[slot] = i;
      locals[secondSlot] = list.get(i);
    }
    if (!visit(context)) return;
  }
}

function iterateMap(map: CelMap, { context, visit, slot, secondSlot }: Iteration): void {
  const { locals } = context;
  for (const key of map.keys()) {
    countVisits(context);
    locals[slot] = key;
    if (secondSlot !== undefined) locals[secondSlot] = map.find(key) ?? null;
    if (!visit(context)) return;
  }
}

interface Loop {
  readonly planner: Planner;
  readonly iterate: Iterate;
  readonly slot: number;
}

function planShape(loop: Loop, shape: Exclude<FoldShape, { kind: 'bind' }>): Evaluate {
  switch (shape.kind) {
    case 'all':
      return planQuantifier(loop, shape.predicate, { decisive: false, conditionCost: 2 });
    case 'exists':
      return planQuantifier(loop, shape.predicate, { decisive: true, conditionCost: 3 });
    case 'existsOne':
      return planExistsOne(loop, shape.predicate);
    case 'append':
      return planAppend(loop, shape.element, shape.filter);
    case 'insert':
      return planInsert(loop, shape.value, shape.filter);
    case 'merge':
      return planMerge(loop, shape.map, shape.filter);
  }
}

/**
 * `all` and `exists`. A decisive element determines the result, even after others have failed; otherwise the
 * first failure is the result. Costs are those of upstream's macro expansion.
 */
function planQuantifier(loop: Loop, predicate: Expr, kind: { readonly decisive: boolean; readonly conditionCost: number }): Evaluate {
  const test = loop.planner.plan(predicate).evaluate;
  const { decisive, conditionCost } = kind;
  return (context) => {
    let settled = false;
    let failure: EvalFailure | undefined;
    loop.iterate(context, (inner) => {
      charge(inner, conditionCost);
      if (settled) return false;
      inner.cost += 1;
      const outcome = testElement(test, inner);
      if (outcome === decisive) settled = true;
      else if (typeof outcome !== 'boolean') failure ??= outcome;
      return true;
    });
    context.cost += 1;
    if (settled) return decisive;
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

function testElement(test: Evaluate, context: EvalContext): boolean | EvalFailure {
  try {
    const value = test(context);
    return typeof value === 'boolean' ? value : noSuchOverload();
  } catch (error) {
    if (error instanceof EvalFailure) return error;
    throw error;
  }
}

function planExistsOne(loop: Loop, predicate: Expr): Evaluate {
  const test = passes(loop.planner, predicate);
  return (context) => {
    let count = 0;
    loop.iterate(context, (inner) => {
      if (test(inner)) {
        count++;
        charge(inner, 2);
      }
      return true;
    });
    charge(context, 2);
    return count === 1;
  };
}

function passes(planner: Planner, filter: Expr | undefined): (context: EvalContext) => boolean {
  if (filter === undefined) return () => true;
  const test = planner.plan(filter).evaluate;
  return (context) => {
    const value = test(context);
    if (typeof value !== 'boolean') throw noSuchOverload();
    return value;
  };
}

/** `map`, `filter` and `transformList`. */
function planAppend(loop: Loop, element: Expr, filter: Expr | undefined): Evaluate {
  const test = passes(loop.planner, filter);
  const plan = loop.planner.plan(element);
  // Reading the accumulator and adding to it; making the list of one element, unless that is constant.
  const cost = 2 + (isConstant(plan) ? 0 : LIST_COST);
  return (context) => {
    const values: CelValue[] = [];
    loop.iterate(context, (inner) => {
      if (test(inner)) {
        values.push(plan.evaluate(inner));
        charge(inner, cost);
      }
      return true;
    });
    charge(context, 1);
    return CelList.of(values);
  };
}

/** `transformMap`. */
function planInsert(loop: Loop, value: Expr, filter: Expr | undefined): Evaluate {
  const test = passes(loop.planner, filter);
  const evaluate = loop.planner.plan(value).evaluate;
  return (context) => {
    const builder = new MapBuilder();
    loop.iterate(context, (inner) => {
      if (test(inner)) {
        insertEntry(builder, inner.locals[loop.slot] as CelValue, evaluate(inner));
        charge(inner, 3);
      }
      return true;
    });
    charge(context, 1);
    return builder.build();
  };
}

/** `transformMapEntry`. */
function planMerge(loop: Loop, map: Expr, filter: Expr | undefined): Evaluate {
  const test = passes(loop.planner, filter);
  const evaluate = loop.planner.plan(map).evaluate;
  return (context) => {
    const builder = new MapBuilder();
    loop.iterate(context, (inner) => {
      if (test(inner)) {
        const added = evaluate(inner);
        if (!(added instanceof CelMap)) throw noSuchOverload();
        for (const key of added.keys()) insertEntry(builder, key, added.find(key) ?? null);
        charge(inner, 2);
      }
      return true;
    });
    charge(context, 1);
    return builder.build();
  };
}
