import { parseWordyDuration } from '../../values/duration.ts';
import { CelDuration, type CelTimestamp, parseDate, parseGoDuration } from './time.ts';
import { EvalFailure } from './value.ts';

/** A string of OpenAPI format `duration`: Go's durations, and words such as `3 days 2 hours`. */
export function parseFormattedDuration(text: string): CelDuration {
  const duration = parseGoDuration(text);
  if (duration !== undefined) return duration;
  const nanoseconds = parseWordyDuration(text);
  if (nanoseconds === undefined) throw new EvalFailure(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new CelDuration(nanoseconds);
}

/** A string of OpenAPI format `date`. */
export function parseFormattedDate(text: string): CelTimestamp {
  const date = parseDate(text);
  if (date === undefined) {
    throw new EvalFailure(`Invalid date formatted string ${text}: parsing time ${JSON.stringify(text)} as "2006-01-02": cannot parse`);
  }
  return date;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A string of OpenAPI format `byte`: base64 of the standard alphabet. */
export function decodeBase64(text: string): Uint8Array {
  const compact = text.replace(/[\r\n]/g, '');
  if (!BASE64.test(compact)) {
    const valid = /^[A-Za-z0-9+/]*/.exec(compact)?.[0].length ?? 0;
    throw new EvalFailure(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${valid}`);
  }
  return new Uint8Array(Buffer.from(compact, 'base64'));
}
