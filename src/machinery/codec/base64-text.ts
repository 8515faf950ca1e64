/** Bytes that are not base64, in the words of the API. */
export class Base64TextError extends Error {
  override readonly name = 'Base64TextError';
}

const CANONICAL = /^[A-Za-z0-9+/]*={0,2}$/;
/** The last character before one or two `=`: its unused bits are zero. */
const LAST_BEFORE_ONE = /[AEIMQUYcgkosw048]=$/;
const LAST_BEFORE_TWO = /[AQgw]==$/;
const ALPHABET = /[A-Za-z0-9+/]/;

/**
 * The canonical base64 of the bytes that `text` encodes: without line breaks, unused bits cleared. The same string if it is canonical. Throws
 * Base64TextError.
 */
export function canonicalBase64(text: string): string {
  if (isCanonical(text)) return text;
  checkBase64(text);
  return Buffer.from(text, 'base64').toString('base64');
}

function isCanonical(text: string): boolean {
  if (text.length % 4 !== 0 || !CANONICAL.test(text)) return false;
  if (!text.endsWith('=')) return true;
  return text.endsWith('==') ? LAST_BEFORE_TWO.test(text) : LAST_BEFORE_ONE.test(text);
}

// Positions are those upstream reports: of the offending character, or of the end where something is missing.
function checkBase64(text: string): void {
  let inGroup = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === '\n' || char === '\r') continue;
    if (char === '=') {
      checkPadding(text, i, inGroup);
      return;
    }
    if (!ALPHABET.test(char)) throw illegal(i);
    inGroup = (inGroup + 1) % 4;
  }
  if (inGroup !== 0) throw illegal(text.length - inGroup);
}

function checkPadding(text: string, first: number, inGroup: number): void {
  if (inGroup < 2) throw illegal(first);
  let next = skipBreaks(text, first + 1);
  if (inGroup === 2) {
    if (next >= text.length) throw illegal(text.length);
    if (text[next] !== '=') throw illegal(next - 1);
    next = skipBreaks(text, next + 1);
  }
  if (next < text.length) throw illegal(next);
}

function skipBreaks(text: string, from: number): number {
  let at = from;
  while (text[at] === '\n' || text[at] === '\r') at++;
  return at;
}

function illegal(position: number): Base64TextError {
  return new Base64TextError(`illegal base64 data at input byte ${position}`);
}
