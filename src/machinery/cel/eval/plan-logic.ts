import type { CallExpr } from '../syntax/ast.ts';
import { CelOptional, type CelValue, EvalFailure, noSuchOverload } from '../values/value.ts';
import { attributePlan, type EvalContext, type Evaluate, type Plan } from './context.ts';
import { index, indexOptional, selectOptional } from './operators.ts';
import type { Planner } from './planner.ts';

function argument(planner: Planner, expr: CallExpr, position: number): Plan {
  const arg = expr.args[position];
  if (arg === undefined) throw new Error(`${expr.function} lacks an argument`);
  return planner.plan(arg);
}

/** The value, or the failure if `&&` and `||` absorb it. */
function attempt(evaluate: Evaluate, context: EvalContext): CelValue | EvalFailure {
  try {
    return evaluate(context);
  } catch (error) {
    if (error instanceof EvalFailure) return error;
    throw error;
  }
}

/**
 * `&&` and `||`: `decisive` determines the result whatever the other side is, even an error. Otherwise the first
 * failure is the result.
 */
export function planLogical(planner: Planner, expr: CallExpr, decisive: boolean): Plan {
  const left = argument(planner, expr, 0).evaluate;
  const right = argument(planner, expr, 1).evaluate;
  const evaluate: Evaluate = (context) => {
    const first = attempt(left, context);
    if (first === decisive) return decisive;
    if (first === !decisive) return requireBool(right(context));
    const second = attempt(right, context);
    if (second === decisive) return decisive;
    throw first instanceof EvalFailure ? first : noSuchOverload();
  };
  return { evaluate, attributeCost: 0 };
}

function requireBool(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload();
  return value;
}

/** `condition ? a : b`. Upstream charges nothing for it, nor for the variable at the start of a branch. */
export function planConditional(planner: Planner, expr: CallExpr): Plan {
  const condition = argument(planner, expr, 0).evaluate;
  const whenTrue = argument(planner, expr, 1);
  const whenFalse = argument(planner, expr, 2);
  const resolveTrue = whenTrue.resolve ?? whenTrue.evaluate;
  const resolveFalse = whenFalse.resolve ?? whenFalse.evaluate;
  return attributePlan((context) => (requireBool(condition(context)) ? resolveTrue(context) : resolveFalse(context)), 0);
}

/** `operand[key]` and `operand[?key]`. */
export function planIndex(planner: Planner, expr: CallExpr, optional: boolean): Plan {
  const operand = argument(planner, expr, 0);
  const key = argument(planner, expr, 1);
  const evaluate = operand.resolve ?? operand.evaluate;
  const evaluateKey = key.resolve ?? key.evaluate;
  const find = optional ? indexOptional : index;
  return attributePlan(
    (context) => {
      const value = evaluate(context);
      const result = find(value, evaluateKey(context));
      if (result !== CelOptional.none) context.cost += 1;
      return result;
    },
    operand.resolve === undefined ? 1 : operand.attributeCost,
  );
}

/** `operand.?field`. */
export function planOptionalSelect(planner: Planner, expr: CallExpr): Plan {
  const operand = argument(planner, expr, 0);
  const field = expr.args[1];
  const name = field?.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
  const evaluate = operand.resolve ?? operand.evaluate;
  return attributePlan(
    (context) => {
      const result = selectOptional(evaluate(context), name);
      // Upstream charges only for present fields.
      if (result.hasValue) context.cost += 1;
      return result;
    },
    operand.resolve === undefined ? 1 : operand.attributeCost,
  );
}

/** `optional.or(optional)` and `optional.orValue(value)`: the argument is only evaluated if needed. */
export function planOr(planner: Planner, expr: CallExpr, unwraps: boolean): Plan {
  if (expr.target === undefined) throw new Error(`${expr.function} lacks a receiver`);
  const target = planner.plan(expr.target).evaluate;
  const otherwise = argument(planner, expr, 0).evaluate;
  const evaluate: Evaluate = (context) => {
    const value = target(context);
    if (!(value instanceof CelOptional)) return value;
    if (value.value === undefined) return otherwise(context);
    return unwraps ? value.value : value;
  };
  return { evaluate, attributeCost: 0 };
}
