import { pushAll } from '#base';
import type { CheckedExpr } from '../check/checker.ts';
import { LIST_COST, MAP_COST, STRUCT_COST } from '../cost/cost-model.ts';
import type { Expr, IdentExpr, ListExpr, MapExpr, StructExpr } from '../syntax/ast.ts';
import type { CelType } from '../types.ts';
import { CelList, fromNative, MapBuilder } from '../values/containers.ts';
import { displayValue } from '../values/inspect.ts';
import { CelOptional, type CelValue, EvalFailure } from '../values/value.ts';
import { attributePlan, charge, constantPlan, type Evaluate, evaluateConstant, isConstant, type Plan, readVariable } from './context.ts';
import { planCall } from './plan-call.ts';
import { planFold } from './plan-fold.ts';
import { planSelect } from './plan-select.ts';

/** A local variable: the slot of its value, or how to compute it on first use. */
export interface LocalVariable {
  readonly slot: number;
  readonly read: Evaluate;
}

/** Turns a checked expression into closures. Throws an EvalFailure where a constant part of it must fail. */
export class Planner {
  readonly checked: CheckedExpr;
  private readonly locals: (LocalVariable & { readonly name: string })[] = [];
  private readonly plans: Plan[] = [];
  private slots = 0;

  constructor(checked: CheckedExpr) {
    this.checked = checked;
  }

  /** The number of slots for local variables. */
  get slotCount(): number {
    return this.slots;
  }

  typeOf(expr: Expr): CelType {
    return this.checked.typeOf(expr);
  }

  newSlot(): number {
    return this.slots++;
  }

  /** Plans an expression in which a name is a local variable. */
  within<T>(variables: readonly (LocalVariable & { readonly name: string })[], plan: () => T): T {
    pushAll(this.locals, variables);
    const planned = plan();
    this.locals.length -= variables.length;
    return planned;
  }

  plan(expr: Expr): Plan {
    const cached = this.plans[expr.id];
    if (cached !== undefined) return cached;
    const plan = this.planNode(expr);
    this.plans[expr.id] = plan;
    return plan;
  }

  private planNode(expr: Expr): Plan {
    switch (expr.kind) {
      case 'literal':
        return constantPlan(expr.value);
      case 'ident':
        return this.planIdent(expr);
      case 'select':
        return planSelect(this, expr);
      case 'call':
        return planCall(this, expr);
      case 'list':
        return this.planList(expr);
      case 'map':
        return this.planMap(expr);
      case 'struct':
        return this.planStruct(expr);
      case 'comprehension':
        return planFold(this, expr);
    }
  }

  /** The plan of a name that is a variable or a type; undefined for a plain field access. */
  planName(expr: Expr): Plan | undefined {
    const reference = this.checked.referenceOf(expr);
    if (reference?.kind === 'type') return constantPlan(reference.type);
    return reference?.kind === 'variable' ? this.planVariable(reference.name, this.typeOf(expr)) : undefined;
  }

  private planIdent(expr: IdentExpr): Plan {
    const local = this.findLocal(expr.name);
    if (local !== undefined && this.checked.referenceOf(expr)?.kind === 'local') return attributePlan(local.read, 1);
    const plan = this.planName(expr);
    if (plan === undefined) throw new Error(`the name ${expr.name} was not checked`);
    return plan;
  }

  findLocal(name: string): LocalVariable | undefined {
    return this.locals.findLast((local) => local.name === name);
  }

  private planVariable(name: string, type: CelType): Plan {
    const resolve: Evaluate = (context) => fromNative(readVariable(context.variables, name), type);
    return attributePlan(resolve, 1);
  }

  private planList(expr: ListExpr): Plan {
    const elements = expr.elements.map((element) => this.plan(element));
    const optionals = elements.map((_, i) => expr.optionals.has(i));
    if (expr.optionals.size === 0 && elements.every(isConstant)) return constantPlan(CelList.of(elements.map((plan) => plan.constant)));
    const evaluates = elements.map((plan) => plan.evaluate);
    const evaluate: Evaluate = (context) => {
      const values: CelValue[] = [];
      for (let i = 0; i < evaluates.length; i++) {
        const value = (evaluates[i] as Evaluate)(context);
        const present = optionals[i] === true ? optionalElement(value) : value;
        if (present !== undefined) values.push(present);
      }
      charge(context, LIST_COST);
      return CelList.of(values);
    };
    return { evaluate, attributeCost: 0 };
  }

  private planMap(expr: MapExpr): Plan {
    const entries = expr.entries.map((entry) => ({
      key: this.plan(entry.key),
      value: this.plan(entry.value),
      optional: entry.optional,
    }));
    const evaluate: Evaluate = (context) => {
      const builder = new MapBuilder();
      for (const { key, value, optional } of entries) {
        const keyValue = key.evaluate(context);
        const present = optional ? optionalEntry(keyValue, value.evaluate(context)) : value.evaluate(context);
        if (present === undefined) builder.delete(keyValue);
        else builder.set(keyValue, present);
      }
      charge(context, MAP_COST);
      return builder.build();
    };
    const isFixed = entries.every(({ key, value, optional }) => isConstant(key) && isConstant(value) && !optional);
    return isFixed ? constantPlan(evaluateConstant(evaluate)) : { evaluate, attributeCost: 0 };
  }

  private planStruct(expr: StructExpr): Plan {
    const reference = this.checked.referenceOf(expr);
    const construct = reference?.kind === 'struct' ? reference.type.traits.construct : undefined;
    if (construct === undefined) throw new EvalFailure(`unknown type: ${expr.typeName}`);
    const fields = expr.fields.map((field) => ({ name: field.name, plan: this.plan(field.value), optional: field.optional }));
    const evaluate: Evaluate = (context) => {
      const values = new Map<string, CelValue>();
      for (const { name, plan, optional } of fields) {
        const value = plan.evaluate(context);
        const present = optional ? optionalEntry(name, value) : value;
        if (present === undefined) values.delete(name);
        else values.set(name, present);
      }
      charge(context, STRUCT_COST);
      return construct(values);
    };
    return { evaluate, attributeCost: 0 };
  }
}

function optionalElement(value: CelValue): CelValue | undefined {
  if (value instanceof CelOptional) return value.value;
  throw new EvalFailure(`cannot initialize optional list element from non-optional value ${displayValue(value)}`);
}

function optionalEntry(key: CelValue, value: CelValue): CelValue | undefined {
  if (value instanceof CelOptional) return value.value;
  throw new EvalFailure(`cannot initialize optional entry '${displayValue(key)}' from non-optional value ${displayValue(value)}`);
}
