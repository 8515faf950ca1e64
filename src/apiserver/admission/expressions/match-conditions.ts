import type { admissionregistration } from '#api';
import { cel, joinMessages } from '#machinery';
import { type Evaluation, Evaluator, type Expression, OutOfBudget } from './evaluation.ts';

export type MatchConditions = readonly Expression[];

export function compileConditions(
  conditions: readonly admissionregistration.MatchCondition[] | undefined,
  variables: cel.PolicyVariables,
): MatchConditions {
  return (conditions ?? []).map(({ expression = '' }) => {
    return { text: expression, result: variables.compile(expression, { resultTypes: [cel.BOOL] }) };
  });
}

/** `error` is set only if the failure policy is Fail. */
export interface ConditionsMatch {
  readonly matches: boolean;
  readonly error?: string;
}

/** One false condition settles it; otherwise failures do, by the failure policy. */
export function evaluateConditions(conditions: MatchConditions, bound: cel.BoundVariables, failurePolicy: string): ConditionsMatch {
  if (conditions.length === 0) return { matches: true };
  const evaluations = evaluateAll(conditions, bound);
  if (typeof evaluations === 'string') return failed(evaluations, failurePolicy);
  if (evaluations.some(({ value }) => value === false)) return { matches: false };
  const errors = evaluations.flatMap(({ error }) => (error === undefined ? [] : [error]));
  return errors.length === 0 ? { matches: true } : failed(joinMessages(errors), failurePolicy);
}

function evaluateAll(conditions: MatchConditions, bound: cel.BoundVariables): readonly Evaluation[] | string {
  const evaluator = new Evaluator(bound, cel.RUNTIME_COST_BUDGET_MATCH_CONDITIONS);
  try {
    return conditions.map((condition) => evaluator.evaluate(condition));
  } catch (error) {
    if (error instanceof OutOfBudget) return error.message;
    throw error;
  }
}

function failed(error: string, failurePolicy: string): ConditionsMatch {
  return failurePolicy === 'Ignore' ? { matches: false } : { matches: false, error };
}
