import { lookupTable } from '#base';
import { compareBytes, goQuote } from '../../values/go-format.ts';
import type { CelType } from '../types.ts';
import { CelList, CelMap } from '../values/containers.ts';
import { stringFrom } from '../values/conversions.ts';
import { typeOf } from '../values/inspect.ts';
import { CelDouble, CelUint, type CelValue, EvalFailure } from '../values/value.ts';

const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;

/** One clause of a format: `%.2f` is letter `f` with precision 2. */
export interface FormatClause {
  readonly letter: string;
  readonly precision: number | undefined;
}

/** A piece of a format string: text as it is, or a clause for the next argument. */
export type FormatPiece = string | FormatClause;

/**
 * Splits a format string. Throws an EvalFailure for malformed clauses. For a format that ends within a clause and has no argument for it, upstream
 * reports different errors when compiling and evaluating.
 */
export function parseFormat(format: string, argumentCount: number, options: { isCompiling?: boolean } = {}): readonly FormatPiece[] {
  const pieces: FormatPiece[] = [];
  let used = 0;
  for (let i = 0; i < format.length; ) {
    const percent = format.indexOf('%', i);
    if (percent < 0) {
      pieces.push(format.slice(i));
      break;
    }
    pieces.push(format.slice(i, percent));
    if (format[percent + 1] === '%') {
      pieces.push('%');
      i = percent + 2;
      continue;
    }
    const isCut = percent + 1 >= format.length;
    if (used >= argumentCount && !(isCut && options.isCompiling === true)) throw new EvalFailure(`index ${used} out of range`);
    if (isCut) throw new EvalFailure('unexpected end of string');
    const clause = parseClause(format, percent + 1);
    pieces.push(clause);
    used++;
    i = percent + 1 + clause.width;
  }
  return pieces;
}

function parseClause(format: string, start: number): FormatClause & { readonly width: number } {
  const precision = /^\.([0-9]*)/.exec(format.slice(start, start + 32));
  const letterAt = start + (precision?.[0].length ?? 0);
  const letter = format[letterAt];
  if (precision !== null && letter === undefined) {
    throw new EvalFailure('could not parse formatting clause: error while parsing precision: could not find end of precision specifier');
  }
  if (precision?.[1] === '') {
    throw new EvalFailure(
      'could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
    );
  }
  if (letter === undefined || !'sdfebxXo'.includes(letter)) {
    throw new EvalFailure(`could not parse formatting clause: unrecognized formatting clause "${letter ?? ''}"`);
  }
  const digits = precision === null ? undefined : Math.min(Number(precision[1]), MAX_PRECISION);
  return { letter, precision: digits, width: letterAt - start + 1 };
}

/** `"%s is %d".format([…])`. */
export function formatString(format: string, args: CelList): string {
  let used = 0;
  const pieces = parseFormat(format, args.size);
  return pieces.map((piece) => (typeof piece === 'string' ? piece : formatArgument(piece, args.get(used++)))).join('');
}

function formatArgument(clause: FormatClause, value: CelValue): string {
  const problem = clauseProblem(clause.letter, typeOf(value));
  if (problem !== undefined && !isSpecialText(clause.letter, value)) throw duringFormatting(problem);
  switch (clause.letter) {
    case 's':
      return formatAsString(value);
    case 'd':
      return String(integer(value));
    case 'f':
      return formatFixed(doubleOf(value), clause.precision ?? DEFAULT_PRECISION);
    case 'e':
      return formatScientific(doubleOf(value), clause.precision ?? DEFAULT_PRECISION);
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : integer(value).toString(2);
    case 'o':
      return integer(value).toString(8);
    default:
      return clause.letter === 'X' ? hexadecimal(value).toUpperCase() : hexadecimal(value);
  }
}

const STRING_KINDS: ReadonlySet<string> = new Set('list map int uint double bool string timestamp bytes duration type null'.split(' '));
const CLAUSES = lookupTable<{ readonly kinds: ReadonlySet<string>; readonly problem: string }>({
  s: {
    kinds: STRING_KINDS,
    problem: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { kinds: new Set(['int', 'uint']), problem: 'decimal clause can only be used on integers' },
  f: { kinds: new Set(['double']), problem: 'fixed-point clause can only be used on doubles' },
  e: { kinds: new Set(['double']), problem: 'scientific clause can only be used on doubles' },
  b: { kinds: new Set(['int', 'uint', 'bool']), problem: 'only integers and bools can be formatted as binary' },
  o: { kinds: new Set(['int', 'uint']), problem: 'octal clause can only be used on integers' },
  x: {
    kinds: new Set(['int', 'uint', 'string', 'bytes']),
    problem: 'only integers, byte buffers, and strings can be formatted as hex',
  },
});

/** Why a clause cannot show values of a type, or undefined if it can. */
export function clauseProblem(letter: string, type: CelType): string | undefined {
  const rule = CLAUSES[letter === 'X' ? 'x' : letter];
  return rule === undefined || rule.kinds.has(type.kind) ? undefined : `${rule.problem}, was given ${type.name}`;
}

function duringFormatting(problem: string): EvalFailure {
  return new EvalFailure(`error during formatting: ${problem}`);
}

/** Doubles that have no literal may be given as strings. */
function isSpecialText(letter: string, value: CelValue): boolean {
  return 'fe'.includes(letter) && (value === 'NaN' || value === 'Infinity' || value === '-Infinity');
}

function doubleOf(value: CelValue): number {
  return value instanceof CelDouble ? value.value : Number(value);
}

function integer(value: CelValue): bigint {
  if (value instanceof CelUint) return value.value;
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : 0n;
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? undefined : value > 0 ? '∞' : '-∞';
}

/** With the separators of the locale that upstream formats in, which is English. */
function formatFixed(value: number, precision: number): string {
  return special(value) ?? groupThousands(exactFixed(value, precision));
}

// toFixed has its own form from 1e21 on.
function exactFixed(value: number, precision: number): string {
  if (Math.abs(value) < 1e21) return value.toFixed(precision);
  return BigInt(value).toString() + (precision === 0 ? '' : `.${'0'.repeat(precision)}`);
}

function groupThousands(text: string): string {
  const [integerPart = '', fraction] = text.split('.');
  // bounded: a number has at most 309 digits.
  const grouped = integerPart.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function formatScientific(value: number, precision: number): string {
  const plain = special(value);
  if (plain !== undefined) return plain;
  const [mantissa = '', exponent = '0'] = value.toExponential(DEFAULT_PRECISION).split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0');
  // The precision is a width upstream, so the mantissa always has six digits.
  return `${mantissa}×10${superscript(sign, digits)}`.padStart(precision);
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function superscript(sign: string, digits: string): string {
  const raised = [...digits].map((digit) => SUPERSCRIPTS[Number(digit)]).join('');
  return sign === '-' ? `⁻${raised}` : raised;
}

function hexadecimal(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integer(value).toString(16);
}

function formatAsString(value: CelValue): string {
  if (value === null) return 'null';
  if (value instanceof CelList) return formatList(value);
  if (value instanceof CelMap) return formatMap(value);
  return stringFrom(value);
}

function formatList(list: CelList): string {
  return `[${list.values().map(formatMember).join(', ')}]`;
}

function formatMap(map: CelMap): string {
  const entries = [...map.keys()].map((key) => ({ key: formatKey(key), value: formatMember(map.find(key) ?? null) }));
  entries.sort((a, b) => compareBytes(a.key, b.key));
  return `{${entries.map(({ key, value }) => `${key}:${value}`).join(', ')}}`;
}

function formatKey(key: CelValue): string {
  if (typeof key === 'object') {
    if (key instanceof CelUint) return String(key.value);
    throw duringFormatting(`no formatting function for map key of type ${typeOf(key).name}`);
  }
  return typeof key === 'string' ? goQuote(key) : String(key);
}

/** A value within a list or map, written as it would be in an expression. */
function formatMember(value: CelValue): string {
  const type = typeOf(value);
  switch (type.kind) {
    case 'string':
      return goQuote(stringFrom(value));
    case 'bytes':
      return `b${goQuote(stringFrom(value))}`;
    case 'timestamp':
    case 'duration':
      return `${type.kind}(${goQuote(stringFrom(value))})`;
    case 'double':
      return formatDoubleMember(doubleOf(value));
    default:
      if (!STRING_KINDS.has(type.kind)) throw duringFormatting(`no formatting function for ${type.name}`);
      return formatAsString(value);
  }
}

function formatDoubleMember(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"+Inf"' : '"-Inf"';
  return exactFixed(value, DEFAULT_PRECISION);
}
