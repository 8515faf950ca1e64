import { parseCidr, parseIp } from '#base';
import { requestUriProblem } from '../cel/library/go-url.ts';
import { parseDuration, parseWordyDuration } from '../values/duration.ts';
import { isMailAddress } from './mail-address.ts';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

// bounded: at most 255 bytes are matched.
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
// Spaces in Go's regular expressions.
const SPACE = '[\\t\\n\\f\\r ]*';
const COLOR_PART = `${SPACE}(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])${SPACE}`;
// bounded: every run of spaces is followed by a digit or a comma.
const RGB_COLOR = new RegExp(`^rgb\\(${COLOR_PART},${COLOR_PART},${COLOR_PART}\\)$`);
const SPACES_AND_DASHES = /[\t\n\f\r -]+/g;
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2})?[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4})$/i;
const MAC_LONG = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){18}[0-9a-f]{2}$|^(?:[0-9a-f]{4}\.){9}[0-9a-f]{4}$/i;
const TIME_OF_DAY = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The checks of string formats. Other formats in a schema are ignored, as are dashes in their names. */
const FORMATS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isUri],
  ['email', isMailAddress],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && isLenientIp(text)],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', isLenientCidr],
  ['mac', (text) => MAC.test(text) || MAC_LONG.test(text)],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matches(RGB_COLOR)],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ['k8slongname', (text) => text.length <= 253 && LONG_NAME.test(text)],
]);

/** The check of a format, or undefined for unknown formats. */
export function stringFormat(name: string): Check | undefined {
  return FORMATS.get(name.replaceAll('-', ''));
}

/** Whether a text is a valid request target: an absolute URI, or an absolute path. */
export function isUri(text: string): boolean {
  return requestUriProblem(text) === undefined;
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || !HOSTNAME.test(text)) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

// Leading zeros are still accepted here, for compatibility.
function isLenientIp(text: string): boolean {
  return parseIp(withoutLeadingZeros(text)) !== undefined;
}

function isLenientCidr(text: string): boolean {
  return parseCidr(withoutLeadingZeros(text)) !== undefined;
}

function withoutLeadingZeros(text: string): string {
  return text.replace(text.includes(':') ? /(\/)0+(?=\d)/g : /(^|[./])0+(?=\d)/g, '$1');
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(SPACES_AND_DASHES, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(SPACES_AND_DASHES, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const weighted = i % 2 === 0 ? digit : digit * 2;
    sum += weighted >= 10 ? (weighted % 10) + 1 : weighted;
  }
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (text.length < 4 || time === undefined || !isDate(date)) return false;
  const match = TIME_OF_DAY.exec(time);
  if (match === null) return false;
  const [, hour = '', minute = '', second = ''] = match;
  return hour <= '23' && minute <= '59' && second <= '59';
}

// A Go duration, or words as in "3 days".
function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return parseWordyDuration(text) !== undefined;
  }
}
