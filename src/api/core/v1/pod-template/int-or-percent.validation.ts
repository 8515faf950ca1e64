import { checkPercent, intValue, isPercent } from '#machinery';
import type { FieldReport } from '../../../field-report.ts';

type IntOrPercent = number | string;

/** A number that is not negative, or a percentage. */
export function validateIntOrPercent(value: IntOrPercent, at: FieldReport): void {
  if (typeof value === 'number') at.nonNegative(value);
  else at.problems(value, checkPercent(value));
}

export function validateAtMost100Percent(value: IntOrPercent, at: FieldReport): void {
  if (isPercent(value) && percentOf(value) > 100) at.invalid(value, 'must not be greater than 100%');
}

/** The number, or the number before the percent sign. */
export function intOrPercentValue(value: IntOrPercent): number {
  return isPercent(value) ? percentOf(value) : intValue(value);
}

function percentOf(value: string): number {
  return Number(value.slice(0, -1));
}
