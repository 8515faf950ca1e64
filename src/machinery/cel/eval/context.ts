import { type CelValue, EvalFailure } from '../values/value.ts';

/** The values of an expression's variables, as plain data or CEL values. */
export type Activation = Readonly<Record<string, unknown>>;

/** The state of one evaluation. */
export interface EvalContext {
  readonly variables: Activation;
  /** Values of the variables that comprehensions bind; a slot each. */
  readonly locals: CelValue[];
  cost: number;
  readonly costLimit: number;
  /** How many elements may still be visited without a cost: loops with constant conditions, operators on undeclared types. */
  visitsLeft: number;
}

/** Upstream ends such an evaluation when the request times out. */
const MAX_VISITS = 10_000_000;

export function newContext({ variables, locals, costLimit }: Pick<EvalContext, 'variables' | 'locals' | 'costLimit'>): EvalContext {
  return { variables, locals, cost: 0, costLimit, visitsLeft: MAX_VISITS };
}

export type Evaluate = (context: EvalContext) => CelValue;

/** Thrown when an evaluation has cost more than it may. Unlike an EvalFailure, nothing absorbs it. */
export class CostLimitExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded';
}

/** Adds to the cost of the evaluation and ends it past its limit. */
export function charge(context: EvalContext, cost: number): void {
  context.cost += cost;
  if (context.cost > context.costLimit) throw new CostLimitExceeded();
}

/** Counts the elements that a loop or a call visits. */
export function countVisits(context: EvalContext, count = 1): void {
  context.visitsLeft -= count;
  if (context.visitsLeft < 0) throw new CostLimitExceeded();
}

/** A planned node. */
export interface Plan {
  readonly evaluate: Evaluate;
  /** The value, where it does not depend on anything. */
  readonly constant?: CelValue;
  /**
   * For variables and selections from them: evaluates without the cost of reading the variable, which upstream counts only where the whole path is
   * evaluated.
   */
  readonly resolve?: Evaluate;
  /** The cost that `evaluate` has beyond `resolve`. */
  readonly attributeCost: number;
}

export function constantPlan(value: CelValue): Plan {
  return { evaluate: () => value, constant: value, attributeCost: 0 };
}

export function isConstant(plan: Plan): plan is Plan & { readonly constant: CelValue } {
  return plan.constant !== undefined;
}

export function attributePlan(resolve: Evaluate, attributeCost: number): Plan {
  if (attributeCost === 0) return { evaluate: resolve, resolve, attributeCost };
  const evaluate: Evaluate = (context) => {
    context.cost += 1;
    return resolve(context);
  };
  return { evaluate, resolve, attributeCost };
}

/** A variable's value. A missing one is an error, unlike null. */
export function readVariable(variables: Activation, name: string): unknown {
  const value = variables[name];
  if (value === undefined) throw new EvalFailure(`no such attribute(s): ${name}`);
  return value;
}

/** Evaluates a constant node. */
export function evaluateConstant(evaluate: Evaluate): CelValue {
  return evaluate(newContext({ variables: {}, locals: [], costLimit: Number.POSITIVE_INFINITY }));
}
