import type { Expr, SelectExpr } from '../syntax/ast.ts';
import type { CelField } from '../types.ts';
import { CelBoxed } from '../values/boxed.ts';
import { fromNative, NativeObject } from '../values/containers.ts';
import { CelOptional, type CelValue, EvalFailure } from '../values/value.ts';
import { attributePlan, type EvalContext, type Plan, readVariable } from './context.ts';
import { hasField, selectField } from './operators.ts';
import type { Planner } from './planner.ts';

/** Reads plain data; the result may also be a CEL value. */
type ReadRaw = (context: EvalContext) => unknown;

/** `operand.field` and `has(operand.field)`. */
export function planSelect(planner: Planner, expr: SelectExpr): Plan {
  const named = planner.planName(expr);
  if (named !== undefined) return named;
  return planStructSelect(planner, expr) ?? planDynamicSelect(planner, expr);
}

/** Reads a path of declared fields directly from the plain data; only the result becomes a CEL value. Undefined if the operand is no such path. */
function planStructSelect(planner: Planner, expr: SelectExpr): Plan | undefined {
  const field = structField(planner, expr);
  const operand = field === undefined ? undefined : planRaw(planner, expr.operand);
  if (field === undefined || operand === undefined) return undefined;
  const { property, type } = field;
  const name = expr.field;
  if (expr.testOnly) {
    return attributePlan((context) => {
      const value = findProperty(operand(context), name, property);
      context.cost += 1;
      // Data that does not match its declaration is an error here too.
      if (value !== undefined) fromNative(value, type);
      return value !== undefined;
    }, 0);
  }
  const read = readField(operand, name, property);
  return attributePlan((context) => fromNative(read(context), type), 1);
}

function structField(planner: Planner, expr: SelectExpr): CelField | undefined {
  const type = planner.typeOf(expr.operand);
  return type.kind === 'struct' ? type.traits.fields?.(expr.field) : undefined;
}

function planRaw(planner: Planner, expr: Expr): ReadRaw | undefined {
  const reference = planner.checked.referenceOf(expr);
  if (reference?.kind === 'variable') {
    const { name } = reference;
    return ({ variables }) => readVariable(variables, name);
  }
  if (expr.kind === 'ident') return planner.findLocal(expr.name)?.read;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const field = structField(planner, expr);
  const operand = field === undefined ? undefined : planRaw(planner, expr.operand);
  return field === undefined || operand === undefined ? undefined : readField(operand, expr.field, field.property);
}

function readField(operand: ReadRaw, name: string, property: string): ReadRaw {
  return (context) => {
    const object = operand(context);
    context.cost += 1;
    const value = findProperty(object, name, property);
    if (value === undefined) throw new EvalFailure(`no such key: ${name}`);
    return value;
  };
}

/** The value of a field of plain data or of its CEL value. Null counts as absent. */
function findProperty(object: unknown, name: string, property: string): unknown {
  if (typeof object !== 'object' || object === null) return undefined;
  if (object instanceof CelBoxed) return findBoxed(object as unknown as CelValue, name);
  // Inherited properties are no data and cannot be JSON keys.
  if (property in Object.prototype && !Object.hasOwn(object, property)) return undefined;
  return (object as Record<string, unknown>)[property] ?? undefined;
}

function findBoxed(object: CelValue, name: string): unknown {
  if (object instanceof NativeObject) {
    const field = object.type.traits.fields?.(name);
    return field === undefined ? undefined : findProperty(object.raw, name, field.property);
  }
  return hasField(object, name) ? selectField(object, name) : undefined;
}

function planDynamicSelect(planner: Planner, expr: SelectExpr): Plan {
  const operand = planner.plan(expr.operand);
  const evaluate = operand.resolve ?? operand.evaluate;
  const { field } = expr;
  if (expr.testOnly) {
    return attributePlan((context) => {
      const value = evaluate(context);
      context.cost += 1;
      return hasField(value, field);
    }, 0);
  }
  return attributePlan(
    (context) => {
      const result = selectField(evaluate(context), field);
      if (result !== CelOptional.none) context.cost += 1;
      return result;
    },
    operand.resolve === undefined ? 1 : operand.attributeCost,
  );
}
