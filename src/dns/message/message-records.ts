import { questionEnd } from './dns-message.ts';

/** Where a record is in a message. */
export interface RecordSpan {
  readonly section: 'answer' | 'authority' | 'additional';
  readonly type: number;
  readonly ttlAt: number;
  readonly dataAt: number;
  readonly dataBytes: number;
}

const TYPE_SOA = 6;
const TYPE_OPT = 41;
/** Type, class, TTL and length, after the name. */
const FIXED_BYTES = 10;
const POINTER = 0xc0;
const SECTIONS = [
  { section: 'answer', countAt: 6 },
  { section: 'authority', countAt: 8 },
  { section: 'additional', countAt: 10 },
] as const;

/** The records of a message with one question, in one pass: names are skipped, not expanded. Undefined: the message is malformed. */
export function recordSpans(message: Buffer): readonly RecordSpan[] | undefined {
  const spans: RecordSpan[] = [];
  let at = questionEnd(message);
  for (const { section, countAt } of SECTIONS) {
    for (let left = message.readUInt16BE(countAt); left > 0; left--) {
      const fixedAt = nameEnd(message, at);
      if (fixedAt === undefined || fixedAt + FIXED_BYTES > message.length) return undefined;
      const dataBytes = message.readUInt16BE(fixedAt + 8);
      at = fixedAt + FIXED_BYTES + dataBytes;
      if (at > message.length) return undefined;
      spans.push({ section, type: message.readUInt16BE(fixedAt), ttlAt: fixedAt + 4, dataAt: fixedAt + FIXED_BYTES, dataBytes });
    }
  }
  return spans;
}

function nameEnd(message: Buffer, start: number): number | undefined {
  let at = start;
  while (at < message.length) {
    const length = message[at] as number;
    if (length === 0) return at + 1;
    if ((length & POINTER) === POINTER) return at + 2;
    if (length > 63) return undefined;
    at += length + 1;
  }
  return undefined;
}

/** How long a reply may be cached: the least TTL of its answers, or else of its authorities. Undefined: no record says, or it is malformed. */
export function cacheSeconds(message: Buffer): number | undefined {
  const spans = recordSpans(message)?.filter(({ type }) => type !== TYPE_OPT);
  const answers = spans?.filter(({ section }) => section === 'answer') ?? [];
  const relevant = answers.length > 0 ? answers : (spans?.filter(({ section }) => section === 'authority') ?? []);
  if (relevant.length === 0) return undefined;
  return relevant.reduce((least, span) => Math.min(least, ttlOf(message, span)), Infinity);
}

/** Negative answers have the SOA's minimum TTL, which is the last of its data. */
function ttlOf(message: Buffer, { type, ttlAt, dataAt, dataBytes }: RecordSpan): number {
  const ttl = message.readUInt32BE(ttlAt);
  return type === TYPE_SOA && dataBytes >= 4 ? Math.min(ttl, message.readUInt32BE(dataAt + dataBytes - 4)) : ttl;
}

/** Changes the message. */
export function subtractTtls(message: Buffer, seconds: number): void {
  for (const { type, ttlAt } of recordSpans(message) ?? [])
    if (type !== TYPE_OPT) message.writeUInt32BE(Math.max(0, message.readUInt32BE(ttlAt) - seconds), ttlAt);
}
