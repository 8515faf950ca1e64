import { withoutTrailing } from '#base';
import { goQuote } from './go-format.ts';

/** A span of time in nanoseconds, as Go counts it: exact, and limited to 64 bits. */
export type Nanoseconds = bigint;

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const MAX = 2n ** 63n - 1n;
const STEP = /([0-9]*)(?:(\.)([0-9]*))?([^0-9.]*)/y;

/** A text that is no Go duration, in Go's words. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

/** Parses a Go duration, such as `1h30m` or `-1.5s`. Throws DurationError. */
export function parseDuration(text: string): Nanoseconds {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  if (body === '') throw invalid(text);
  let total = 0n;
  // bounded: a copy of STEP, with a place of its own.
  const step = new RegExp(STEP);
  while (step.lastIndex < body.length) {
    total += parseStep(step.exec(body), text);
    if (total > MAX + (negative ? 1n : 0n)) throw invalid(text);
  }
  return negative ? -total : total;
}

function parseStep(match: RegExpExecArray | null, text: string): bigint {
  const [, integerPart = '', , fraction = '', unit = ''] = match ?? [];
  if ((integerPart === '' && fraction === '') || integerPart.length > 19) throw invalid(text);
  if (unit === '') throw new DurationError(`time: missing unit in duration ${goQuote(text)}`);
  const nanoseconds = UNITS.get(unit);
  if (nanoseconds === undefined) throw new DurationError(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
  // Digits beyond a nanosecond of the largest unit are insignificant.
  const digits = fraction.slice(0, 18);
  return BigInt(integerPart) * nanoseconds + (BigInt(digits) * nanoseconds) / 10n ** BigInt(digits.length);
}

function invalid(text: string): DurationError {
  return new DurationError(`time: invalid duration ${goQuote(text)}`);
}

/** The last name of each unit is also the start of longer ones: `seconds`, `minutes`. */
const UNIT_WORDS: readonly { readonly names: readonly string[]; readonly nanoseconds: bigint }[] = [
  { names: ['ns', 'nano'], nanoseconds: 1n },
  { names: ['us', 'µs', 'micro'], nanoseconds: 1_000n },
  { names: ['ms', 'milli'], nanoseconds: 1_000_000n },
  { names: ['s', 'sec'], nanoseconds: 1_000_000_000n },
  { names: ['m', 'min'], nanoseconds: 60_000_000_000n },
  { names: ['h', 'hr', 'hour'], nanoseconds: 3_600_000_000_000n },
  { names: ['d', 'day'], nanoseconds: 86_400_000_000_000n },
  { names: ['w', 'wk', 'week'], nanoseconds: 604_800_000_000_000n },
];
// Every character is part of a token, so that the expression never scans ahead.
const WORDY_TOKEN = /\d+|[\t\n\f\r ]+|[A-Za-z\u00b5]+|./gs;

/** Parses a duration in words, such as `3 days 2 hours`. Other words are skipped; undefined when no unit is among them, or a number is too large. */
export function parseWordyDuration(text: string): Nanoseconds | undefined {
  let total: Nanoseconds | undefined;
  let digits: string | undefined;
  for (const [token] of text.matchAll(WORDY_TOKEN)) {
    if (/^[\t\n\f\r ]/.test(token)) continue;
    if (/^[A-Za-z\u00b5]/.test(token) && digits !== undefined) {
      const count = countOf(digits);
      const unit = unitNamed(token.toLowerCase());
      if (count === undefined) return undefined;
      if (unit !== undefined) total = (total ?? 0n) + count * unit;
    }
    digits = /^\d/.test(token) ? token : undefined;
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}

function countOf(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  const count = significant.length > 19 ? undefined : BigInt(significant);
  return count === undefined || count > MAX ? undefined : count;
}

function unitNamed(name: string): bigint | undefined {
  return UNIT_WORDS.find(({ names }) => names.includes(name) || name.startsWith(names.at(-1)!))?.nanoseconds;
}

/** A Go duration in milliseconds, as clocks take it. Throws DurationError. */
export function parseDurationMs(text: string): number {
  return Number(parseDuration(text)) / 1e6;
}

/** Writes a duration as Go does: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(duration: Nanoseconds): string {
  if (duration === 0n) return '0s';
  if (duration < 0n) return `-${formatDuration(-duration)}`;
  if (duration < 1_000n) return `${duration}ns`;
  if (duration < 1_000_000n) return `${decimal(duration, 3)}µs`;
  if (duration < 1_000_000_000n) return `${decimal(duration, 6)}ms`;
  const minutes = duration / 60_000_000_000n;
  const seconds = `${decimal(duration % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

export function formatDurationMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms * 1e6)));
}

function decimal(value: bigint, places: number): string {
  const unit = 10n ** BigInt(places);
  const digits = (value % unit).toString().padStart(places, '0');
  const fraction = withoutTrailing(digits, '0');
  const quotient = value / unit;
  return fraction === '' ? `${quotient}` : `${quotient}.${fraction}`;
}

/** An age for people, with two or three significant figures: `2m30s`, `5h12m`, `9d`. Slightly negative ages are zero. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return withRest(`${minutes}m`, seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return withRest(`${hours}h`, minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  return humanDays(hours);
}

function humanDays(hours: number): string {
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return withRest(`${days}d`, hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < 24 * 365 * 8 ? withRest(`${years}y`, days % 365, 'd') : `${years}y`;
}

function withRest(large: string, rest: number, unit: string): string {
  return rest === 0 ? large : `${large}${rest}${unit}`;
}

/** An age for people, in one unit. */
export function shortHumanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 24) return `${hours}h`;
  return hours < 24 * 365 ? `${Math.trunc(hours / 24)}d` : `${Math.trunc(hours / 24 / 365)}y`;
}
