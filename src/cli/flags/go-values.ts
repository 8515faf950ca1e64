import { goQuote, parseDurationMs } from '#machinery';

// Values in the forms that upstream's flags take, with its errors: those of Go's strconv.

/** A value that has not the form of its flag. */
export class FlagSyntaxError extends Error {
  override readonly name = 'FlagSyntaxError';
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

export function goBoolean(text: string): boolean {
  if (!TRUE.has(text) && !FALSE.has(text)) throw syntaxError('ParseBool', text);
  return TRUE.has(text);
}

/** Decimal, or with a prefix: hexadecimal, octal, binary. Underscores may separate digits after a prefix. */
const INTEGER = /^[+-]?(?:0[xX](?:_?[\dA-Fa-f])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/;

export function goInteger(text: string): number {
  if (!INTEGER.test(text)) throw syntaxError('ParseInt', text);
  const isNegative = text.startsWith('-');
  const digits = text.replace(/^[+-]/, '').replaceAll('_', '');
  const value = Number(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (value > Number.MAX_SAFE_INTEGER) throw new FlagSyntaxError(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`);
  return isNegative ? -value : value;
}

const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function goNumber(text: string): number {
  if (!FLOAT.test(text)) throw syntaxError('ParseFloat', text);
  const value = Number(text);
  if (!Number.isFinite(value)) throw new FlagSyntaxError(`strconv.ParseFloat: parsing ${goQuote(text)}: value out of range`);
  return value;
}

/** In milliseconds. */
export function goDuration(text: string): number {
  try {
    return parseDurationMs(text);
  } catch (error) {
    throw new FlagSyntaxError((error as Error).message, { cause: error });
  }
}

function syntaxError(parser: string, text: string): FlagSyntaxError {
  return new FlagSyntaxError(`strconv.${parser}: parsing ${goQuote(text)}: invalid syntax`);
}
