/** Where a value stands in JSON text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;

/**
 * The position of the top-level member of this name, if it is an object and occurs exactly once. Correct for valid text only; validity is not
 * checked.
 */
export function objectMemberRange(bytes: Uint8Array, name: string): TextRange | undefined {
  let range: TextRange | undefined;
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      const end = endOfString(bytes, i);
      const isNamed = depth === 1 && isNameAt(bytes, i + 1, end - 1, name);
      const value = isNamed ? valueAfterKey(bytes, end) : -1;
      i = end - 1;
      if (value < 0) continue;
      if (range !== undefined || bytes[value] !== OPEN_BRACE) return undefined;
      range = { from: value, to: endOfObject(bytes, value) };
      i = range.to - 1;
    } else if (opens(byte)) depth++;
    else if (closes(byte)) depth--;
  }
  return range;
}

/** Behind the closing quote of the string that begins at `at`. */
function endOfString(bytes: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Behind the closing brace of the object that begins at `at`. */
function endOfObject(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) i = endOfString(bytes, i) - 1;
    else if (opens(byte)) depth++;
    else if (closes(byte) && --depth === 0) return i + 1;
  }
  return bytes.length;
}

function opens(byte: number): boolean {
  return byte === OPEN_BRACE || byte === 0x5b;
}

function closes(byte: number): boolean {
  return byte === 0x7d || byte === 0x5d;
}

function isNameAt(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name.charCodeAt(i)) return false;
  return true;
}

/** The start of the value of the key that ends at `at`; -1 if the string is not a key. */
function valueAfterKey(bytes: Uint8Array, at: number): number {
  const colon = skipSpace(bytes, at);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (isSpace(bytes[i] ?? 0)) i++;
  return i;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
