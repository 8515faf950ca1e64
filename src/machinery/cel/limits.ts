import { MAX_ESTIMATE } from './cost/estimate.ts';

/** The most that evaluating one expression may cost. */
export const PER_CALL_LIMIT = 1_000_000;
/** The most that all expressions of one object or policy binding may cost together. */
export const RUNTIME_COST_BUDGET = 10_000_000;
/** The same for the match conditions of one webhook or policy. */
export const RUNTIME_COST_BUDGET_MATCH_CONDITIONS = 2_500_000;
/** The most that an expression of a CRD may be estimated to cost. */
export const STATIC_ESTIMATED_COST_LIMIT = 10_000_000;
/** The most that all expressions of a CRD may be estimated to cost together. */
export const STATIC_ESTIMATED_CRD_COST_LIMIT = 100_000_000;
/** The longest message that a messageExpression may give, in bytes. */
export const MAX_MESSAGE_SIZE = 5 * 1024;
/** The maximum request size, from which unbounded sizes are estimated. */
export const MAX_REQUEST_SIZE = 3 * 1024 * 1024;

/** The API server's message for an estimate over its limit; `what` is for example "estimated rule cost". */
export function costErrorMessage(subject: string, cost: number, limit: number): string {
  const excess = cost / limit;
  const factor = excess > 100 ? 'more than 100x' : excess < 1.5 ? `${excess.toFixed(6)}x` : `${excess.toFixed(1)}x`;
  const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${subject} exceeds budget by factor of ${factor} (${advice})`;
}

/** How many values of that minimum size fit into one request, if no enclosing schema bounds it. */
export function maxCardinality(minSerializedSize: number): number {
  return Math.floor(MAX_REQUEST_SIZE / (minSerializedSize + 1));
}

/** The cost of a rule times its cardinality, capped at the estimates' maximum. */
export function multiplyCost(cost: number, cardinality: number): number {
  return Math.min(cost * cardinality, MAX_ESTIMATE);
}
