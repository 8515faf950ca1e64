import { goQuote } from './go-format.ts';

const SECONDS_LAYOUT = '2006-01-02T15:04:05Z07:00';
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})([.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;
const CANONICAL_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** An instant that a Time or MicroTime field can hold: to the microsecond, which milliseconds alone cannot. */
export interface Instant {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  /** Microseconds within the second, 0 to 999999. */
  readonly micros: number;
}

/** Milliseconds since the epoch as metav1.Time writes them: UTC, whole seconds. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since the epoch as metav1.MicroTime writes them: UTC, six decimals. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch of an RFC 3339 time. Throws with Go's texts. */
export function parseTime(text: string): number {
  return parseInstant(text).ms;
}

/** The form in which a server stores a Time field: UTC, without fraction. Throws with Go's texts. */
export function canonicalTime(text: string): string {
  const { ms } = parseInstant(text);
  return CANONICAL_SECONDS.test(text) ? text : formatTime(ms);
}

/** The form in which a server stores a MicroTime field: UTC, six decimals. Throws with Go's texts. */
export function canonicalMicroTime(text: string): string {
  const { ms, micros } = parseInstant(text);
  return `${new Date(ms).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
}

export function parseInstant(text: string): Instant {
  const match = RFC3339.exec(text);
  if (match === null) throw new Error(mismatch(text));
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = match;
  const parts = { year: Number(year), month: Number(month), day: Number(day) };
  const problem = rangeProblem({ ...parts, hour: Number(hour), minute: Number(minute), second: Number(second) }) ?? zoneProblem(zone);
  if (problem !== undefined) throw new Error(`parsing time ${goQuote(text)}: ${problem}`);
  const micros = Number(fraction.slice(1, 7).padEnd(6, '0'));
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return { ms: Date.parse(iso) + Math.trunc(micros / 1000), micros };
}

interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function rangeProblem({ year, month, day, hour, minute, second }: Fields): string | undefined {
  if (month < 1 || month > 12) return 'month out of range';
  if (hour > 23) return 'hour out of range';
  if (minute > 59) return 'minute out of range';
  if (second > 59) return 'second out of range';
  return day < 1 || day > daysIn(year, month) ? 'day out of range' : undefined;
}

function zoneProblem(zone: string): string | undefined {
  if (zone === 'Z') return undefined;
  if (Number(zone.slice(1, 3)) > 23) return 'time zone offset hour out of range';
  return Number(zone.slice(4)) > 59 ? 'time zone offset minute out of range' : undefined;
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

const LAYOUT_PARTS: readonly { readonly layout: string; readonly pattern: RegExp }[] = [
  { layout: '2006', pattern: /^\d{4}/ },
  { layout: '-', pattern: /^-/ },
  { layout: '01', pattern: /^\d{2}/ },
  { layout: '-', pattern: /^-/ },
  { layout: '02', pattern: /^\d{2}/ },
  { layout: 'T', pattern: /^T/ },
  { layout: '15', pattern: /^\d{2}/ },
  { layout: ':', pattern: /^:/ },
  { layout: '04', pattern: /^\d{2}/ },
  { layout: ':', pattern: /^:/ },
  { layout: '05', pattern: /^\d{2}([.,]\d+)?/ },
  { layout: 'Z07:00', pattern: /^(Z|[+-]\d{2}:\d{2})/ },
];

/** Go names the first part of the layout that does not fit, and the text from there on. */
function mismatch(text: string): string {
  let rest = text;
  for (const { layout, pattern } of LAYOUT_PARTS) {
    const match = pattern.exec(rest);
    if (match === null)
      return `parsing time ${goQuote(text)} as ${goQuote(SECONDS_LAYOUT)}: cannot parse ${goQuote(rest)} as ${goQuote(layout)}`;
    rest = rest.slice(match[0].length);
  }
  return `parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`;
}
