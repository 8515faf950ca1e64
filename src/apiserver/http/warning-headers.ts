/** As upstream: all warnings in full up to this length; beyond, each is truncated to `ITEM_LENGTH`, and those past the total are dropped. */
const TOTAL_LENGTH = 4096;
const ITEM_LENGTH = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: headers cannot carry them
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]+/g;

/** The Warning header values of these texts. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  return bounded(warnings).map((text) => `299 - "${headerText(text)}"`);
}

function bounded(warnings: readonly string[]): readonly string[] {
  let total = 0;
  for (const warning of warnings) {
    total += lengthOf(warning);
    if (total > TOTAL_LENGTH) return truncated(warnings);
  }
  return warnings;
}

function truncated(warnings: readonly string[]): readonly string[] {
  const headers: string[] = [];
  for (let i = 0, total = 0; i < warnings.length && total < TOTAL_LENGTH; i++) {
    const text = cut(warnings[i]!);
    total += lengthOf(text);
    headers.push(text);
  }
  return headers;
}

/** In code points, as upstream. Counting stops beyond every limit. */
function lengthOf(text: string): number {
  return text.length > 2 * TOTAL_LENGTH ? text.length : [...text].length;
}

function cut(text: string): string {
  return [...text.slice(0, 2 * ITEM_LENGTH)].slice(0, ITEM_LENGTH).join('');
}

/** Go sends UTF-8 in headers. Node writes each character as one byte, so the bytes are passed as characters. */
function headerText(text: string): string {
  const quoted = text.replace(CONTROL_CHARACTERS, ' ').replace(/["\\]/g, (char) => `\\${char}`);
  return Buffer.from(quoted, 'utf8').toString('latin1');
}
