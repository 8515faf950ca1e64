import packet, { type Answer, type DecodedPacket } from 'dns-packet';
import { type DnsAnswer, RCODE, type Rcode } from '../zone/dns-answer.ts';

export const HEADER_BYTES = 12;
/** The UDP size without EDNS; EDNS sizes are limited to what fits any link. */
const PLAIN_UDP_BYTES = 512;
const MAX_UDP_BYTES = 1232;
const QR = 0x8000;
const AA = 0x0400;
const TC = 0x0200;
const RD = 0x0100;
const RA = 0x0080;
const OPCODE_SHIFT = 11;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
const DOT = 0x2e;
const MAX_ASCII = 0x7f;

export interface DnsQuery {
  readonly id: number;
  readonly bytes: Buffer;
  readonly question: { readonly name: string; readonly type: string; readonly class: string };
  /** As sent: clients verify the letter case. */
  readonly rawName: string;
  /** Whether `name` is unambiguous: no label has a dot or a non-ASCII byte. */
  readonly isTextual: boolean;
  readonly isRecursionDesired: boolean;
  /** The client's UDP buffer size. */
  readonly udpBytes: number;
  readonly hasEdns: boolean;
}

/** A query, an error reply, or `undefined` for a message that is ignored. */
export type ReadQuery = DnsQuery | { readonly rcode: Rcode; readonly bytes: Buffer } | undefined;

export function readQuery(bytes: Buffer): ReadQuery {
  if (bytes.length < HEADER_BYTES) return undefined;
  const flags = bytes.readUInt16BE(2);
  // Replying to replies could loop between two servers.
  if ((flags & QR) !== 0) return undefined;
  if (((flags >> OPCODE_SHIFT) & 0xf) !== 0) return { rcode: RCODE.notImp, bytes };
  if (!hasQueryCounts(bytes) || !hasPlainQuestion(bytes)) return { rcode: RCODE.formErr, bytes };
  try {
    return queryOf(bytes, packet.decode(bytes));
  } catch {
    return { rcode: RCODE.formErr, bytes };
  }
}

function queryOf(bytes: Buffer, { id = 0, questions = [], additionals = [] }: DecodedPacket): ReadQuery {
  const [question] = questions;
  if (question === undefined) return { rcode: RCODE.formErr, bytes };
  const edns = additionals.find(({ type }) => type === 'OPT') as { udpPayloadSize?: number } | undefined;
  return {
    id,
    bytes,
    rawName: question.name,
    question: { name: question.name.toLowerCase().replace(/\.$/, ''), type: question.type, class: question.class ?? 'IN' },
    isTextual: hasTextLabels(bytes),
    isRecursionDesired: (bytes.readUInt16BE(2) & RD) !== 0,
    hasEdns: edns !== undefined,
    udpBytes: edns === undefined ? PLAIN_UDP_BYTES : Math.min(MAX_UDP_BYTES, Math.max(PLAIN_UDP_BYTES, edns.udpPayloadSize ?? 0)),
  };
}

/** As CoreDNS accepts queries: one question, and no list of records whose names could take long to expand. */
function hasQueryCounts(bytes: Buffer): boolean {
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ];
  return questions === 1 && answers === 0 && authorities <= 1 && additionals <= 2;
}

/** The first name cannot have compression pointers. */
function hasPlainQuestion(bytes: Buffer): boolean {
  let at = HEADER_BYTES;
  while (at < bytes.length && bytes[at] !== 0) {
    if ((bytes[at] as number) > MAX_LABEL_BYTES) return false;
    at += (bytes[at] as number) + 1;
  }
  return at - HEADER_BYTES < MAX_NAME_BYTES && at + 5 <= bytes.length;
}

function hasTextLabels(bytes: Buffer): boolean {
  let labelEnd = HEADER_BYTES;
  for (let at = HEADER_BYTES; bytes[at] !== 0 || at !== labelEnd; at++) {
    const byte = bytes[at] as number;
    if (at === labelEnd) labelEnd += byte + 1;
    else if (byte === DOT || byte > MAX_ASCII) return false;
  }
  return true;
}

/** A reply without records. It repeats the question, without which resolvers ignore it. */
export function failureReply(bytes: Buffer, rcode: Rcode): Buffer {
  const hasQuestion = bytes.readUInt16BE(4) === 1 && hasPlainQuestion(bytes);
  const reply = Buffer.alloc(hasQuestion ? questionEnd(bytes) : HEADER_BYTES);
  bytes.copy(reply, 0, 0, reply.length);
  const flags = bytes.readUInt16BE(2);
  reply.writeUInt16BE(QR | (flags & ((0xf << OPCODE_SHIFT) | RD)) | RA | rcode, 2);
  reply.writeUInt16BE(hasQuestion ? 1 : 0, 4);
  reply.fill(0, 6, HEADER_BYTES);
  return reply;
}

export interface ReplyOptions {
  readonly isAuthoritative: boolean;
  readonly canRecurse: boolean;
}

export function encodeReply(query: DnsQuery, answer: DnsAnswer, { isAuthoritative, canRecurse }: ReplyOptions): Buffer {
  const { question, rawName } = query;
  const flags = (isAuthoritative ? AA : 0) | (query.isRecursionDesired ? RD : 0) | (canRecurse ? RA : 0) | answer.rcode;
  // Records repeat the name in the case of the question.
  const named = (records: readonly Answer[]) =>
    records.map((record) => (record.name === question.name ? { ...record, name: rawName } : record));
  const additionals = query.hasEdns ? [...named(answer.additionals), OPT] : named(answer.additionals);
  return packet.encode({
    ...{ type: 'response' as const, id: query.id, flags },
    questions: [{ name: rawName, type: question.type as 'A', class: question.class as 'IN' }],
    answers: named(answer.answers),
    authorities: named(answer.authorities),
    additionals,
  });
}

const OPT: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: MAX_UDP_BYTES,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

const OPT_BYTES = packet.encode({ type: 'response', additionals: [OPT] }).subarray(HEADER_BYTES);

/** Fits a reply to the client's buffer: if too large it is sent without records and with TC, so that the client retries over TCP. */
export function truncated(reply: Buffer, { udpBytes, hasEdns }: Pick<DnsQuery, 'udpBytes' | 'hasEdns'>): Buffer {
  if (reply.length <= udpBytes) return reply;
  const short = Buffer.concat([reply.subarray(0, questionEnd(reply)), ...(hasEdns ? [OPT_BYTES] : [])]);
  short.writeUInt16BE(short.readUInt16BE(2) | TC, 2);
  short.writeUInt16BE(0, 6);
  short.writeUInt16BE(0, 8);
  short.writeUInt16BE(hasEdns ? 1 : 0, 10);
  return short;
}

/** The end of the question in a message with one question. */
export function questionEnd(bytes: Buffer): number {
  let at = HEADER_BYTES;
  while (at < bytes.length && bytes[at] !== 0) at += (bytes[at] as number) + 1;
  return Math.min(bytes.length, at + 5);
}

export function isTruncated(reply: Buffer): boolean {
  return (reply.readUInt16BE(2) & TC) !== 0;
}

export function rcodeOf(reply: Buffer): number {
  return reply.readUInt16BE(2) & 0xf;
}
