/** The result of scanning JSON text, valid or not. */
export interface JsonTextScan {
  /** Colons outside strings: in a valid text, the number of keys. */
  readonly colons: number;
  readonly depth: number;
  /** Contains something that JSON.parse does not preserve: a long or unusually written number, half of a surrogate pair. */
  readonly needsExactParser: boolean;
}

/** A number of this many characters may exceed a double's precision. */
const LONG_NUMBER = 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** One pass over the bytes; strings are skipped in a tight loop, as most of a text is strings. */
export function scanJsonText(bytes: Uint8Array): JsonTextScan {
  const length = bytes.length;
  let [colons, depth, deepest, needsExactParser] = [0, 0, 0, false];
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      for (i++; i < length && bytes[i] !== QUOTE; i++) {
        if (bytes[i] === BACKSLASH) {
          i++;
          if (isSurrogateEscape(bytes, i)) needsExactParser = true;
        }
      }
    } else if (byte === 0x3a) {
      colons++;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    } else if (byte >= 0x30 && byte <= 0x39) {
      const end = skipNumber(bytes, i);
      if (end - i > 1 && (end - i >= LONG_NUMBER || isNotCanonical(bytes, i, end))) needsExactParser = true;
      i = end - 1;
    }
  }
  return { colons, depth: deepest, needsExactParser };
}

/** At the `u` of an escape from \ud800 to \udfff. */
function isSurrogateEscape(bytes: Uint8Array, at: number): boolean {
  const first = (bytes[at + 1] ?? 0) | 0x20;
  const second = (bytes[at + 2] ?? 0) | 0x20;
  return bytes[at] === 0x75 && first === 0x64 && (second >= 0x61 || second === 0x38 || second === 0x39);
}

function skipNumber(bytes: Uint8Array, from: number): number {
  let end = from + 1;
  while (isNumberByte(bytes[end] ?? 0)) end++;
  return end;
}

function isNumberByte(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x2b || byte === 0x2d || byte === 0x45 || byte === 0x65;
}

/** With an exponent, a fraction that ends in zeros, or one so small that JavaScript would write it with an exponent. */
function isNotCanonical(bytes: Uint8Array, from: number, to: number): boolean {
  let hasFraction = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    if ((byte | 0x20) === 0x65) return true;
    if (byte === 0x2e) hasFraction = true;
  }
  return hasFraction && (bytes[to - 1] === 0x30 || (bytes[from] === 0x30 && bytes[from + 2] === 0x30));
}
