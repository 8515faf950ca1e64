import { lookupTable } from '#base';
import { goQuote, parseDuration } from '#machinery';

/** A cron job's schedule. Fields are sets of numbers; `anyDay`: day of month or day of week is a star. */
export type CronSchedule =
  | { readonly every: bigint; readonly timeZone?: string }
  | {
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly daysOfMonth: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      readonly daysOfWeek: ReadonlySet<number>;
      /** If either field is a star a day must match both sets, otherwise one of them. */
      readonly anyDayOfMonth: boolean;
      readonly anyDayOfWeek: boolean;
      readonly timeZone?: string;
    };

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const BOUNDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = lookupTable<string>({
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
});
const EVERY = '@every ';
const SECOND = 1_000_000_000n;

/** Parses a schedule: five fields, a descriptor such as `@daily`, or `@every 1h`. Throws with upstream's text. */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === '') throw new Error('empty spec string');
  if (!text.startsWith('TZ=') && !text.startsWith('CRON_TZ=')) return parseFields(text);
  const space = text.indexOf(' ');
  if (space < 0) throw new Error('invalid schedule format: runtime error: slice bounds out of range [:-1]');
  const timeZone = text.slice(text.indexOf('=') + 1, space);
  const problem = timeZoneProblem(timeZone);
  if (problem) throw new Error(`provided bad location ${timeZone}: ${problem}`);
  return { ...parseFields(text.slice(space).trim()), timeZone };
}

/** Why a time zone is invalid; empty if it is valid. */
export function timeZoneProblem(name: string): string | undefined {
  if (name === 'Local' || name === '') return undefined;
  try {
    const canonical = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    // Upstream's names are file names, so they are case-sensitive.
    if (canonical === name || canonical.toLowerCase() !== name.toLowerCase()) return undefined;
  } catch {
    // Unknown to Intl: reported below.
  }
  return `unknown time zone ${name}`;
}

function parseFields(text: string): CronSchedule {
  if (text.startsWith('@')) return parseDescriptor(text);
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== BOUNDS.length) {
    throw new Error(`expected exactly ${BOUNDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields.map((field, i) => parseField(field, BOUNDS[i] as Bounds)) as Field[];
  return {
    minutes: (minutes as Field).values,
    hours: (hours as Field).values,
    daysOfMonth: (daysOfMonth as Field).values,
    months: (months as Field).values,
    daysOfWeek: (daysOfWeek as Field).values,
    anyDayOfMonth: (daysOfMonth as Field).isStar,
    anyDayOfWeek: (daysOfWeek as Field).isStar,
  };
}

function parseDescriptor(text: string): CronSchedule {
  const fields = DESCRIPTORS[text];
  if (fields !== undefined) return parseFields(fields);
  if (!text.startsWith(EVERY)) throw new Error(`unrecognized descriptor: ${text}`);
  try {
    const duration = parseDuration(text.slice(EVERY.length));
    // At least one second, in whole seconds.
    return { every: duration < SECOND ? SECOND : duration - (duration % SECOND) };
  } catch (error) {
    throw new Error(`failed to parse duration ${text}: ${(error as Error).message}`);
  }
}

interface Field {
  readonly values: Set<number>;
  readonly isStar: boolean;
}

function parseField(text: string, bounds: Bounds): Field {
  const values = new Set<number>();
  let isStar = false;
  for (const expression of text.split(',')) {
    if (expression === '') continue;
    const range = parseRange(expression, bounds);
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
    isStar ||= range.isStar;
  }
  return { values, isStar };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly isStar: boolean;
}

function parseRange(expression: string, bounds: Bounds): Range {
  const [range = '', stepText, ...slashes] = expression.split('/');
  const { start, end, isStar, isSingle } = parseEnds(range, expression, bounds);
  if (slashes.length > 0) throw new Error(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  // `5/10` means from 5 to the end.
  const last = stepText !== undefined && isSingle ? bounds.max : end;
  checkRange({ start, end: last, step, isStar }, expression, bounds);
  return { start, end: last, step, isStar: isStar && step <= 1 };
}

interface Ends {
  readonly start: number;
  readonly end: number;
  readonly isStar: boolean;
  readonly isSingle: boolean;
}

function parseEnds(range: string, expression: string, { min, max, names }: Bounds): Ends {
  const [low = '', high, ...hyphens] = range.split('-');
  const isSingle = high === undefined;
  if (low === '*' || low === '?') return { start: min, end: max, isStar: true, isSingle };
  const start = parseNumberOrName(low, names);
  if (hyphens.length > 0) throw new Error(`too many hyphens: ${expression}`);
  return { start, end: high === undefined ? start : parseNumberOrName(high, names), isStar: false, isSingle };
}

function checkRange({ start, end, step }: Range, expression: string, { min, max }: Bounds): void {
  if (start < min) throw new Error(`beginning of range (${start}) below minimum (${min}): ${expression}`);
  if (end > max) throw new Error(`end of range (${end}) above maximum (${max}): ${expression}`);
  if (start > end) throw new Error(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new Error(`step of range should be a positive number: ${expression}`);
}

function parseNumberOrName(text: string, names: readonly string[] | undefined): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  if (index < 0) return parseNumber(text);
  return names === MONTHS ? index + 1 : index;
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d{1,18}$/.test(text)) {
    const detail = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    throw new Error(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: ${detail}`);
  }
  const value = Number(text);
  if (value < 0) throw new Error(`negative number (${value}) not allowed: ${text}`);
  return value;
}
