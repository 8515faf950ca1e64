import { type CivilDate, civilFromDays, daysFromCivil, daysInMonth } from '../values/civil-date.ts';

/** An instant: whole seconds since 1970 (negative before), and nanoseconds within that second. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

/** A text that is not a time, in the words of the API. */
export class TimeTextError extends Error {
  override readonly name = 'TimeTextError';
}

/** The instant that stands for "no time": it is never written. */
export const ZERO_TIME_SECONDS = -62_135_596_800;

const SECONDS_A_DAY = 86_400;
const UNPRINTED_IN_TIMES = /[^ -\x7f]/gu;
const QUOTED_IN_TIMES = /["\\]/g;
const RFC3339 = '2006-01-02T15:04:05Z07:00';
const RFC3339_MICRO = '2006-01-02T15:04:05.000000Z07:00';

/** The seconds of a time in canonical form (`2026-01-02T03:04:05Z`, the date and time being possible), else NaN. */
export function canonicalSeconds(text: string): number {
  if (text.length !== 20 || text.charCodeAt(19) !== 0x5a) return Number.NaN;
  const separators = text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':';
  return separators ? civilSeconds(text) : Number.NaN;
}

/** Canonical form with microseconds: `2026-01-02T03:04:05.000006Z`. */
export function isCanonicalMicro(text: string): boolean {
  if (text.length !== 27 || text[19] !== '.' || text[26] !== 'Z') return false;
  for (let i = 20; i < 26; i++) if (digitAt(text, i) < 0) return false;
  return !Number.isNaN(canonicalSeconds(`${text.slice(0, 19)}Z`));
}

// The fields are at fixed positions; each is checked, since the text is untrusted.
function civilSeconds(text: string): number {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const possible = month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysInMonth(year, month));
  if (!possible || !(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
  return daysFromCivil(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second;
}

function digitAt(text: string, index: number): number {
  const digit = text.charCodeAt(index) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

function twoDigits(text: string, index: number): number {
  const tens = digitAt(text, index);
  const ones = digitAt(text, index + 1);
  return tens < 0 || ones < 0 ? Number.NaN : tens * 10 + ones;
}

/** Go's package of times has a quotation of its own: each byte of what is not ASCII is escaped. */
function quoteTimeText(text: string): string {
  const escaped = text.replace(QUOTED_IN_TIMES, '\\$&');
  return `"${escaped.replace(UNPRINTED_IN_TIMES, (rune) => Buffer.from(rune).toString('hex').replace(/../g, '\\x$&'))}"`;
}

/** RFC 3339 in UTC, to the second. */
export function formatTime(seconds: number): string {
  const days = Math.floor(seconds / SECONDS_A_DAY);
  const date = civilFromDays(days);
  const hasFourDigits = date.year >= 0 && date.year <= 9999;
  return hasFourDigits ? fourDigitTime(date, seconds - days * SECONDS_A_DAY) : `${formatSeconds(seconds)}Z`;
}

/** A flat string: a concatenated one keeps its pieces alive, and nearly every object has a time. */
function fourDigitTime({ year, month, day }: CivilDate, rest: number): string {
  const century = Math.floor(year / 100);
  const hour = Math.floor(rest / 3600);
  const minute = Math.floor((rest % 3600) / 60);
  const second = rest % 60;
  // biome-ignore format: in the order of the text
  return String.fromCharCode(
    tens(century), onesDigit(century), tens(year % 100), onesDigit(year), 0x2d, tens(month), onesDigit(month), 0x2d, tens(day), onesDigit(day),
    0x54, tens(hour), onesDigit(hour), 0x3a, tens(minute), onesDigit(minute), 0x3a, tens(second), onesDigit(second), 0x5a,
  );
}

function tens(value: number): number {
  return 0x30 + Math.floor(value / 10);
}

function onesDigit(value: number): number {
  return 0x30 + (value % 10);
}

/** RFC 3339 in UTC, always six digits of microseconds. */
export function formatMicroTime({ seconds, nanos }: Instant): string {
  const micros = Math.floor(nanos / 1000);
  return `${formatSeconds(seconds)}.${String(micros).padStart(6, '0')}Z`;
}

function formatSeconds(seconds: number): string {
  const days = Math.floor(seconds / SECONDS_A_DAY);
  const rest = seconds - days * SECONDS_A_DAY;
  const hour = Math.floor(rest / 3600);
  const minute = Math.floor((rest % 3600) / 60);
  return `${formatDate(days)}T${pad(hour)}:${pad(minute)}:${pad(rest % 60)}`;
}

function formatDate(days: number): string {
  const { year, month, day } = civilFromDays(days);
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

function pad(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** Reads RFC 3339 as the API accepts it: any offset, any number of fractional digits. Throws TimeTextError. */
export function parseTime(text: string): Instant {
  return new TimeParser(text, RFC3339).parse();
}

/** As `parseTime`, but six fractional digits are demanded. */
export function parseMicroTime(text: string): Instant {
  return new TimeParser(text, RFC3339_MICRO).parse();
}

/** Parses a text from left to right; errors have the remaining text and what was expected, as upstream's. */
class TimeParser {
  private readonly text: string;
  private readonly layout: string;
  private rest: string;

  constructor(text: string, layout: string) {
    this.text = text;
    this.layout = layout;
    this.rest = text;
  }

  parse(): Instant {
    const year = this.year();
    const month = this.after('-', '01', 12, 'month');
    const day = this.after('-', '02', 99, 'day');
    const hour = this.hour();
    const minute = this.after(':', '04', 59, 'minute');
    const second = this.after(':', '05', 59, 'second');
    const nanos = this.layout === RFC3339_MICRO ? this.sixDigits() : this.anyFraction();
    const offset = this.zone();
    if (this.rest !== '') throw this.error(`: extra text: ${quoteTimeText(this.rest)}`);
    if (day < 1 || day > daysInMonth(year, month)) throw this.error(': day out of range');
    const seconds = daysFromCivil(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second - offset;
    return { seconds, nanos };
  }

  private year(): number {
    if (!/^\d{4}/.test(this.rest)) throw this.expected('2006');
    return Number(this.take(4));
  }

  private after(separator: string, element: string, most: number, name: string): number {
    this.skip(separator);
    if (!/^\d\d/.test(this.rest)) throw this.expected(element);
    const value = Number(this.take(2));
    if (value > most || (name === 'month' && value === 0)) throw this.error(`: ${name} out of range`);
    return value;
  }

  // The hour alone may have one digit.
  private hour(): number {
    this.skip('T');
    const digits = /^\d\d?/.exec(this.rest)?.[0];
    if (digits === undefined) throw this.expected('15');
    this.take(digits.length);
    if (Number(digits) > 23) throw this.error(': hour out of range');
    return Number(digits);
  }

  private anyFraction(): number {
    const fraction = /^[.,](\d+)/.exec(this.rest);
    if (fraction === null) return 0;
    this.take(fraction[0].length);
    return Number((fraction[1] ?? '').slice(0, 9).padEnd(9, '0'));
  }

  private sixDigits(): number {
    if (!/^[.,]\d{6}/.test(this.rest)) throw this.expected('.000000');
    return Number(this.take(7).slice(1)) * 1000;
  }

  private zone(): number {
    if (this.rest.startsWith('Z')) {
      this.take(1);
      return 0;
    }
    const zone = /^([+-])(\d\d):(\d\d)/.exec(this.rest);
    if (zone === null) throw this.expected('Z07:00');
    this.take(6);
    if (Number(zone[2]) > 24) throw this.error(': time zone offset hour out of range');
    if (Number(zone[3]) > 60) throw this.error(': time zone offset minute out of range');
    return (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 3600 + Number(zone[3]) * 60);
  }

  private skip(separator: string): void {
    if (!this.rest.startsWith(separator)) throw this.expected(separator);
    this.take(1);
  }

  private take(count: number): string {
    const digits = this.rest.slice(0, count);
    this.rest = this.rest.slice(count);
    return digits;
  }

  private expected(element: string): TimeTextError {
    return this.error(` as ${quoteTimeText(this.layout)}: cannot parse ${quoteTimeText(this.rest)} as ${quoteTimeText(element)}`);
  }

  private error(detail: string): TimeTextError {
    return new TimeTextError(`parsing time ${quoteTimeText(this.text)}${detail}`);
  }
}
