/** One header line; a header may be repeated. */
export interface HeaderLine {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
}

const LOWER_CASE = 0x20;

/** The lines whose names start with `prefix` (all for an empty one), from Node's flat list. */
export function linesFrom(rawHeaders: readonly string[], prefix: string): readonly HeaderLine[] {
  const lines: HeaderLine[] = [];
  const first = prefix.charCodeAt(0);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    // Most names differ in their first letter.
    if (prefix !== '' && (rawHeaders[i]!.charCodeAt(0) | LOWER_CASE) !== first) continue;
    const name = rawHeaders[i]!.toLowerCase();
    if (name.startsWith(prefix)) lines.push({ name, value: rawHeaders[i + 1] ?? '' });
  }
  return lines;
}

/** The key of a user's extra value in the name of a header: percent-encoded, or taken as it is. */
export function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
