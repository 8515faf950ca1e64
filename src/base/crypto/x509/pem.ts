/** One block of a text in PEM. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

const BEGIN = '-----BEGIN ';
const END = '\n-----END ';
const DASHES = '-----';
const LINE_LENGTH = 64;

/** PEM encoding. */
export function encodePem(type: string, bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes).toString('base64');
  const lines: string[] = [];
  for (let i = 0; i < base64.length; i += LINE_LENGTH) lines.push(base64.slice(i, i + LINE_LENGTH));
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}

/** The bytes of the first block; undefined if there is none, or it has another type. */
export function decodePem(type: string, text: string): Uint8Array | undefined {
  const [block] = pemBlocks(text);
  return block?.type === type ? block.bytes : undefined;
}

/**
 * The blocks of a text, as Go's library parses them: a block starts at the last BEGIN line before an END line; text between blocks and malformed
 * blocks are ignored. Linear in the text.
 */
export function* pemBlocks(text: string): Generator<PemBlock, undefined> {
  for (let position = 0; ; ) {
    const end = text.indexOf(END, position);
    if (end < 0) return;
    const segment = text.slice(position, end);
    position = end + END.length;
    const begin = segment.lastIndexOf(BEGIN);
    if (begin < 0 || (begin > 0 && segment[begin - 1] !== '\n')) continue;
    const trailer = lineAt(text, position);
    const block = blockOf(segment.slice(begin + BEGIN.length), trailer.text);
    if (block === undefined) continue;
    yield block;
    position = trailer.next;
  }
}

/** `content` is the text between BEGIN and the end mark, `trailer` the line of the end mark. */
function blockOf(content: string, trailer: string): PemBlock | undefined {
  const typeLine = lineAt(content, 0);
  if (!typeLine.text.endsWith(DASHES) || trailer !== typeLine.text) return undefined;
  let body = typeLine.next;
  let hasHeaders = false;
  for (let line = lineAt(content, body); line.text.includes(':'); line = lineAt(content, body)) {
    hasHeaders = true;
    body = line.next;
  }
  // Headers end with an empty line.
  if (hasHeaders && body > content.length) return undefined;
  const bytes = decodeBase64(content.slice(body));
  return bytes && { type: typeLine.text.slice(0, -DASHES.length), hasHeaders, bytes };
}

interface Line {
  /** Without trailing white space. */
  readonly text: string;
  /** The start of the next line; beyond the end of the text for the last one. */
  readonly next: number;
}

function lineAt(text: string, start: number): Line {
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  let last = newline > start && text[newline - 1] === '\r' ? end - 1 : end;
  while (last > start && (text[last - 1] === ' ' || text[last - 1] === '\t')) last--;
  return { text: text.slice(start, last), next: end + 1 };
}

/** Standard base64 with padding; spaces, tabs and ends of lines are skipped. Undefined for anything else. */
function decodeBase64(text: string): Uint8Array | undefined {
  const base64 = text.replace(/[ \t\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return Buffer.from(base64, 'base64');
}
