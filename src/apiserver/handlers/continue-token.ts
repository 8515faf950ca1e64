import { StatusError } from '#machinery';

/** Where the next page of a list begins: in the state of which revision, after which key. */
export interface ContinueToken {
  readonly revision: number;
  /** Relative to the list's prefix. */
  readonly start: string;
}

const VERSION = 'meta.k8s.io/v1';

export function encodeContinue({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${v ?? ''}`);
  if (typeof rv !== 'number' || rv === 0) throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (typeof start !== 'string' || start === '') throw invalid(`encoded start key empty (version ${VERSION})`);
  if (start.startsWith('/') || start.split('/').includes('..')) throw invalid(start);
  return { revision: rv, start };
}

function parse(text: string): { v?: string; rv?: unknown; start?: unknown } {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    throw invalid(`invalid character '${goCharacter(bytes[0])}' looking for beginning of value`);
  }
  throw invalid('server does not recognize this encoded version ');
}

/** As Go prints a byte that is no printable ASCII character. */
function goCharacter(byte: number | undefined): string {
  if (byte === undefined) return '';
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\u${byte.toString(16).padStart(4, '0')}`;
}

function invalid(why: string): StatusError {
  return StatusError.badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
