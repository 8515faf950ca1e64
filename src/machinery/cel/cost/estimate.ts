import { REGEX_FACTOR, STRING_FACTOR } from './cost-model.ts';

/** Where an unsigned 64-bit count stops: estimates past it stay there. */
export const MAX_ESTIMATE = 2 ** 64;

/** A range of sizes or costs. */
export interface Estimate {
  readonly min: number;
  readonly max: number;
}

export const UNKNOWN: Estimate = { min: 0, max: MAX_ESTIMATE };
export const ZERO: Estimate = { min: 0, max: 0 };

export function fixedEstimate(value: number): Estimate {
  return { min: value, max: value };
}

export function sum(...estimates: readonly Estimate[]): Estimate {
  return sumOf(estimates);
}

/** Of a list of any length. */
export function sumOf(estimates: readonly Estimate[]): Estimate {
  return estimates.reduce((a, b) => ({ min: Math.min(a.min + b.min, MAX_ESTIMATE), max: Math.min(a.max + b.max, MAX_ESTIMATE) }), ZERO);
}

export function product(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(a.min * b.min, MAX_ESTIMATE), max: Math.min(a.max * b.max, MAX_ESTIMATE) };
}

/** Times a factor, rounded up. */
export function scaled(estimate: Estimate, factor: number): Estimate {
  return { min: Math.min(Math.ceil(estimate.min * factor), MAX_ESTIMATE), max: Math.min(Math.ceil(estimate.max * factor), MAX_ESTIMATE) };
}

export function union(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** The cost of walking text of that size once. */
export function traversal(size: Estimate): Estimate {
  return scaled(size, STRING_FACTOR);
}

/** The cost of matching a regular expression. One more than the text's size, as an empty text still costs. */
export function regexMatch(text: Estimate, pattern: Estimate): Estimate {
  return product(traversal(sum(text, fixedEstimate(1))), scaled(pattern, REGEX_FACTOR));
}

/** What a call costs, and how large its result is where that is a string, bytes, list or map. */
export interface CallEstimate {
  readonly cost: Estimate;
  readonly resultSize?: Estimate | undefined;
}
