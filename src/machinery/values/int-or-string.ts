import { parseInt64 } from '../selectors/label-requirement.ts';
import { goQuote } from './go-format.ts';

/** A number, or a string that is a name or a percentage. */
export type IntOrString = number | string;

/** An int32 in decimal becomes a number, anything else stays as it is. */
export function parseIntOrString(text: string): IntOrString {
  const value = parseInt64(text);
  return value !== undefined && BigInt.asIntN(32, value) === value ? Number(value) : text;
}

/** The number; of a string the integer it spells, 0 if it spells none. */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value;
  const parsed = parseInt64(value);
  return parsed === undefined ? 0 : Number(parsed);
}

export function isPercent(value: IntOrString): value is string {
  return typeof value === 'string' && /^[0-9]+%$/.test(value);
}

/** A number as it is; a percentage of `total`, rounded as asked. Throws with the API's texts. */
export function scaledIntOrPercent(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) throw new Error('invalid value for IntOrString: invalid type: string is not a percentage');
  const scaled = (percentage(value) * total) / 100;
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}

function percentage(value: string): number {
  const digits = value.slice(0, -1);
  const parsed = parseInt64(digits);
  if (parsed !== undefined) return Number(parsed);
  const detail = /^[+-]?[0-9]+$/.test(digits) ? 'value out of range' : 'invalid syntax';
  throw new Error(`invalid value for IntOrString: invalid value ${goQuote(value)}: strconv.Atoi: parsing ${goQuote(digits)}: ${detail}`);
}
