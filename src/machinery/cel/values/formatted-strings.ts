import { CelDuration, type CelTimestamp, parseDate, parseGoDuration } from './time.ts';
import { EvalFailure } from './value.ts';

const NANOS_PER_SECOND = 1_000_000_000n;
// The last name of each unit also matches as a prefix: `seconds`, `minutes`.
const UNITS: readonly { readonly names: readonly string[]; readonly nanos: bigint }[] = [
  { names: ['ns', 'nano'], nanos: 1n },
  { names: ['us', 'µs', 'micro'], nanos: 1_000n },
  { names: ['ms', 'milli'], nanos: 1_000_000n },
  { names: ['s', 'sec'], nanos: NANOS_PER_SECOND },
  { names: ['m', 'min'], nanos: 60n * NANOS_PER_SECOND },
  { names: ['h', 'hr', 'hour'], nanos: 3600n * NANOS_PER_SECOND },
  { names: ['d', 'day'], nanos: 86400n * NANOS_PER_SECOND },
  { names: ['w', 'wk', 'week'], nanos: 604800n * NANOS_PER_SECOND },
];

/** A string of OpenAPI format `duration`: Go's durations, and words such as `3 days 2 hours`. */
export function parseFormattedDuration(text: string): CelDuration {
  const duration = parseGoDuration(text) ?? parseWordyDuration(text);
  if (duration === undefined) throw new EvalFailure(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return duration;
}

function parseWordyDuration(text: string): CelDuration | undefined {
  let total: bigint | undefined;
  for (const match of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = unitNamed((match[2] ?? '').toLowerCase());
    if (unit !== undefined) total = (total ?? 0n) + BigInt(match[1] ?? '0') * unit;
  }
  return total === undefined ? undefined : new CelDuration(BigInt.asIntN(64, total));
}

function unitNamed(name: string): bigint | undefined {
  return UNITS.find(({ names }) => names.includes(name) || name.startsWith(names.at(-1) ?? ''))?.nanos;
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
