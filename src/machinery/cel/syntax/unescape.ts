import { lookupTable } from '#base';
/** Why a quoted text has no value. */
export class UnescapeError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

const NAMED = lookupTable<string>({
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
});

const ESCAPE = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))/g;

interface QuotedText {
  readonly body: string;
  readonly raw: boolean;
}

/** The text of a string token, without quotes and escapes. */
export function unescapeString(token: string): string | UnescapeError {
  const { body, raw } = unquote(token);
  if (raw || !body.includes('\\')) return body;
  let error: UnescapeError | undefined;
  const text = body.replace(ESCAPE, (_, hex?: string, short?: string, long?: string, octal?: string, named?: string) => {
    if (named !== undefined) return NAMED[named] ?? named;
    const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '0', 16) : Number.parseInt(octal, 8);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) error = new UnescapeError('invalid unicode code point');
    return error === undefined ? String.fromCodePoint(code) : '';
  });
  return error ?? text;
}

/** The bytes of a bytes token: text as UTF-8, `\x` and octal escapes as single bytes. */
export function unescapeBytes(token: string): Uint8Array | UnescapeError {
  const { body, raw } = unquote(token.slice(1));
  if (raw) return encode(body);
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const match of body.matchAll(ESCAPE)) {
    const [, hex, short, long, octal, named] = match;
    if (short !== undefined || long !== undefined) return new UnescapeError('unable to unescape string');
    parts.push(encode(body.slice(end, match.index)));
    if (named === undefined) parts.push(Uint8Array.of(octal === undefined ? Number.parseInt(hex ?? '0', 16) : Number.parseInt(octal, 8)));
    else parts.push(encode(NAMED[named] ?? named));
    end = match.index + match[0].length;
  }
  parts.push(encode(body.slice(end)));
  return new Uint8Array(Buffer.concat(parts));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function unquote(token: string): QuotedText {
  const text = token.replace(/\r\n?/g, '\n');
  const raw = /^[rR]/.test(text);
  const quoted = raw ? text.slice(1) : text;
  const width = /^("""|''')/.test(quoted) && quoted.length >= 6 ? 3 : 1;
  return { body: quoted.slice(width, quoted.length - width), raw };
}
