import { withoutTrailing } from '#base';
import { type CivilDate, civilFromDays, daysFromCivil, daysInMonth, isLeapYear } from '../../values/civil-date.ts';
import { DurationError, parseDuration } from '../../values/duration.ts';
import { CelBoxed } from './boxed.ts';
import { isInt64 } from './integers.ts';
import { EvalFailure } from './value.ts';

const NANOS_PER_SECOND = 1_000_000_000;
const BIG_NANOS_PER_SECOND = 1_000_000_000n;
// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const MIN_UNIX_SECONDS = -62135596800;
const MAX_UNIX_SECONDS = 253402300799;

/** A span of time in nanoseconds, within 64 bits. */
export class CelDuration extends CelBoxed {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    if (!isInt64(nanos)) throw new EvalFailure('integer overflow');
    this.nanos = nanos;
  }

  get seconds(): number {
    return Number(this.nanos / BIG_NANOS_PER_SECOND) + Number(this.nanos % BIG_NANOS_PER_SECOND) / NANOS_PER_SECOND;
  }
}

/** An instant. The offset is that of the text it was read from; it only matters when the instant is written again. */
export class CelTimestamp extends CelBoxed {
  readonly seconds: number;
  readonly nanos: number;
  readonly offsetSeconds: number;

  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

export function timestampFromUnix(seconds: number | bigint): CelTimestamp {
  if (seconds < MIN_UNIX_SECONDS || seconds > MAX_UNIX_SECONDS) throw new EvalFailure('timestamp overflow');
  return new CelTimestamp(Number(seconds), 0);
}

export function compareTimestamps(a: CelTimestamp, b: CelTimestamp): number {
  return Math.sign(a.seconds - b.seconds) || Math.sign(a.nanos - b.nanos);
}

function nanosSinceEpoch(time: CelTimestamp): bigint {
  return BigInt(time.seconds) * BIG_NANOS_PER_SECOND + BigInt(time.nanos);
}

export function addDuration(time: CelTimestamp, duration: CelDuration): CelTimestamp {
  const total = nanosSinceEpoch(time) + duration.nanos;
  let seconds = total / BIG_NANOS_PER_SECOND;
  let nanos = total % BIG_NANOS_PER_SECOND;
  if (nanos < 0n) {
    nanos += BIG_NANOS_PER_SECOND;
    seconds -= 1n;
  }
  if (seconds < MIN_UNIX_SECONDS || seconds > MAX_UNIX_SECONDS) throw new EvalFailure('timestamp overflow');
  return new CelTimestamp(Number(seconds), Number(nanos), time.offsetSeconds);
}

export function subtractDuration(time: CelTimestamp, duration: CelDuration): CelTimestamp {
  return addDuration(time, new CelDuration(-duration.nanos));
}

export function subtractTimestamps(a: CelTimestamp, b: CelTimestamp): CelDuration {
  return new CelDuration(nanosSinceEpoch(a) - nanosSinceEpoch(b));
}

/** Reads what Go's time.ParseDuration reads (`1h2m3.5s`); undefined where that fails. */
export function parseGoDuration(text: string): CelDuration | undefined {
  try {
    return new CelDuration(parseDuration(text));
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}

/** `string(duration)`: seconds in the shortest decimal form. */
export function formatDuration(duration: CelDuration): string {
  return `${decimal(duration.seconds)}s`;
}

/** Go's strconv.FormatFloat(value, 'f', -1, 64): shortest digits, no exponent. */
export function decimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text === '-0' ? '0' : text;
  const [mantissa = '', exponent = '0'] = text.split('e');
  return shiftPoint(mantissa, Number(exponent));
}

function shiftPoint(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [integerPart = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = integerPart + fraction;
  const point = integerPart.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:(Z)|([+-])(\d{2}):(\d{2}))?$/;

/** Reads an RFC 3339 time as Go's time.Parse does; undefined where that fails. The zone may be left out only if asked. */
export function parseTimestamp(text: string, options: { localAllowed?: boolean } = {}): CelTimestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', zulu, sign] = match;
  if (zulu === undefined && sign === undefined && options.localAllowed !== true) return undefined;
  const clock = clockSeconds(Number(hour), Number(minute), Number(second));
  const days = daysOf({ year: Number(year), month: Number(month), day: Number(day) });
  const offset = sign === undefined ? 0 : zoneOffset(sign, Number(match[10]), Number(match[11]));
  if (clock === undefined || days === undefined || offset === undefined) return undefined;
  const nanos = Number(fraction.slice(0, 9).padEnd(9, '0'));
  return new CelTimestamp(days * 86400 + clock - offset, nanos, offset);
}

/** Reads a full date, `2006-01-02`. */
export function parseDate(text: string): CelTimestamp | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const days = daysOf({ year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) });
  return days === undefined ? undefined : new CelTimestamp(days * 86400, 0);
}

export function isTimestampInRange(time: CelTimestamp): boolean {
  return time.seconds >= MIN_UNIX_SECONDS && time.seconds <= MAX_UNIX_SECONDS;
}

function clockSeconds(hour: number, minute: number, second: number): number | undefined {
  return hour > 23 || minute > 59 || second > 59 ? undefined : hour * 3600 + minute * 60 + second;
}

function zoneOffset(sign: string, hours: number, minutes: number): number | undefined {
  if (hours > 24 || minutes >= 60) return undefined;
  const seconds = hours * 3600 + minutes * 60;
  return sign === '-' ? -seconds : seconds;
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Days since 1970-01-01; undefined for a date that does not exist. */
function daysOf({ year, month, day }: CivilDate): number | undefined {
  return day < 1 || day > daysInMonth(year, month) ? undefined : daysFromCivil(year, month, day);
}

/** The fields of an instant as a clock and calendar at an offset from UTC show them. */
export interface CivilTime extends CivilDate {
  readonly dayOfYear: number;
  readonly dayOfWeek: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export function civilTime(time: CelTimestamp, offsetSeconds: number): CivilTime {
  const local = time.seconds + offsetSeconds;
  const days = Math.floor(local / 86400);
  const clock = local - days * 86400;
  const date = civilFromDays(days);
  const leap = date.month > 2 && isLeapYear(date.year) ? 1 : 0;
  return {
    ...date,
    dayOfYear: (DAYS_BEFORE_MONTH[date.month - 1] ?? 0) + leap + date.day - 1,
    dayOfWeek: (((days + 4) % 7) + 7) % 7,
    hour: Math.floor(clock / 3600),
    minute: Math.floor((clock % 3600) / 60),
    second: clock % 60,
  };
}

/** RFC 3339 with as much of the fraction as there is. */
export function formatTimestamp(time: CelTimestamp): string {
  const civil = civilTime(time, time.offsetSeconds);
  const date = `${pad(civil.year, 4)}-${pad(civil.month, 2)}-${pad(civil.day, 2)}`;
  const clock = `${pad(civil.hour, 2)}:${pad(civil.minute, 2)}:${pad(civil.second, 2)}`;
  const fraction = time.nanos === 0 ? '' : `.${withoutTrailing(pad(time.nanos, 9), '0')}`;
  return `${date}T${clock}${fraction}${formatOffset(time.offsetSeconds)}`;
}

function formatOffset(seconds: number): string {
  if (seconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(seconds) / 60);
  return `${seconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** The offset from UTC that a zone has at an instant: a name of the tz database, or `+hh:mm`. */
export function zoneOffsetAt(zone: string, time: CelTimestamp): number {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0;
  const colon = zone.indexOf(':');
  return colon === -1 ? namedZoneOffset(zone, time) : numericZoneOffset(zone, colon);
}

function numericZoneOffset(zone: string, colon: number): number {
  const hours = goAtoi(zone.slice(0, colon));
  const minutes = goAtoi(zone.slice(colon + 1));
  return (zone.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60;
}

function goAtoi(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) throw new EvalFailure(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function namedZoneOffset(zone: string, time: CelTimestamp): number {
  const parts = zonedParts(zone, time);
  const days = daysOf({ year: parts('year'), month: parts('month'), day: parts('day') }) ?? 0;
  return days * 86400 + parts('hour') * 3600 + parts('minute') * 60 + parts('second') - time.seconds;
}

function zonedParts(zone: string, time: CelTimestamp): (name: string) => number {
  const format = zoneFormat(zone);
  const parts = new Map(format.formatToParts(time.seconds * 1000).map((part) => [part.type as string, Number(part.value)]));
  return (name) => parts.get(name) ?? 0;
}

function zoneFormat(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-u-ca-gregory', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new EvalFailure(`unknown time zone ${zone}`);
  }
}
