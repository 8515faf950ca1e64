import type { CheckedExpr } from './check/checker.ts';
import { estimateCost, type SizeEstimator } from './cost/cost-estimator.ts';
import type { Estimate } from './cost/estimate.ts';
import { type Activation, CostLimitExceeded, type Evaluate, newContext } from './eval/context.ts';
import { Planner } from './eval/planner.ts';
import { PER_CALL_LIMIT } from './limits.ts';
import { type CelType, param } from './types.ts';
import { type CelValue, EvalFailure } from './values/value.ts';

/** Why an evaluation has no result: it failed, or it cost too much. */
export class CelError extends Error {
  override readonly name = 'CelError';
  readonly kind: 'evaluation' | 'cost';

  constructor(message: string, kind: 'evaluation' | 'cost' = 'evaluation') {
    super(message);
    this.kind = kind;
  }
}

export interface EvaluateOptions {
  /** The cost limit; a million by default. */
  readonly costLimit?: number;
}

/** The outcome of an evaluation. The cost is counted even if it failed. */
export type EvalOutcome =
  | { readonly value: CelValue; readonly error?: undefined; readonly cost: number }
  | { readonly value?: undefined; readonly error: CelError; readonly cost: number };

/** An expression ready to be evaluated any number of times. */
export class CelProgram {
  readonly expression: string;
  /** The type of the result. */
  readonly outputType: CelType;
  /** The declared variables that the expression mentions. */
  readonly variables: ReadonlySet<string>;
  private readonly checked: CheckedExpr;
  private readonly declared: Readonly<Record<string, CelType>>;
  private readonly root: Evaluate;
  private readonly slotCount: number;

  /** Throws an EvalFailure if a constant part of the expression fails. */
  constructor(expression: string, checked: CheckedExpr, declared: Readonly<Record<string, CelType>>) {
    const planner = new Planner(checked);
    this.expression = expression;
    this.checked = checked;
    this.declared = declared;
    this.outputType = checked.typeOf(checked.expr);
    this.variables = checked.variables;
    this.root = planner.plan(checked.expr).evaluate;
    this.slotCount = planner.slotCount;
  }

  /** Evaluates; a failure is part of the outcome. */
  run(activation: Activation, options: EvaluateOptions = {}): EvalOutcome {
    const costLimit = options.costLimit ?? PER_CALL_LIMIT;
    const locals = this.slotCount === 0 ? [] : new Array<CelValue>(this.slotCount);
    const context = newContext({ variables: activation, locals, costLimit });
    try {
      const value = this.root(context);
      if (context.cost > costLimit) throw new CostLimitExceeded();
      return { value, cost: context.cost };
    } catch (error) {
      return { error: toCelError(error), cost: context.cost };
    }
  }

  /** Evaluates; throws a CelError. */
  evaluate(activation: Activation, options: EvaluateOptions = {}): CelValue {
    const outcome = this.run(activation, options);
    if (outcome.error !== undefined) throw outcome.error;
    return outcome.value;
  }

  /**
   * The least and the most that an evaluation may cost. The sizes of variables are those that their declared types
   * bound, unless an estimator is given.
   */
  estimateCost(sizes: SizeEstimator = declaredSizes(this.declared)): Estimate {
    return estimateCost(this.checked, sizes);
  }
}

function toCelError(error: unknown): CelError {
  if (error instanceof EvalFailure) return new CelError(error.message);
  if (error instanceof CostLimitExceeded) return new CelError(error.message, 'cost');
  // Reached only by expressions near the nesting limits, on data of the same depth.
  if (error instanceof RangeError) return new CelError(`internal error: ${error.message}`);
  throw error;
}

const SIZED: ReadonlySet<string> = new Set(['string', 'bytes', 'list', 'map', 'dyn', 'any']);

/** Follows a path through the declared types to its size bound. */
export function declaredSizes(variables: Readonly<Record<string, CelType>>): SizeEstimator {
  return (path) => {
    const [variable = '', ...rest] = path;
    // Upstream resolves from the root of the data, whatever the path starts with, including type names.
    let type = Object.hasOwn(variables, variable) ? variables[variable] : variables.self;
    for (const name of rest) type = type === undefined ? undefined : stepInto(type, name);
    if (type === undefined) return undefined;
    const { maxElements } = type.traits;
    if (maxElements === undefined && SIZED.has(type.kind)) return undefined;
    return { min: 0, max: maxElements ?? 0 };
  };
}

function stepInto(type: CelType, name: string): CelType | undefined {
  switch (name) {
    case '@items':
    case '@values':
      return type.kind === 'list' ? param(type, 0) : type.kind === 'map' ? param(type, 1) : undefined;
    case '@keys':
      return type.kind === 'map' ? param(type, 0) : undefined;
    default:
      return type.traits.fields?.(name)?.type;
  }
}
