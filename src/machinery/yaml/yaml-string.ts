import { lookupTable } from '#base';
import { resolvesToString } from './yaml-scalar.ts';

/** Where a line is broken at the next space. */
const WIDTH = 80;

/** Where a scalar stands: how far right it begins, and where its next lines begin. */
export interface ScalarPlace {
  readonly column: number;
  readonly indent: number;
  /** A key stays on its line. */
  readonly isKey: boolean;
}

/** Writes a string the way Go's YAML does: plain where it can be, quoted where it must be, long ones folded at spaces. */
export function yamlString(text: string, place: ScalarPlace): string {
  const form = analyse(text);
  if (text.includes('\n')) return form.block && !place.isKey ? literal(text, place) : doubleQuoted(text, place);
  if (!resolvesToString(text)) return doubleQuoted(text, place);
  if (form.plain) return folded(text, place, { from: 0, to: Infinity });
  if (!form.single) return doubleQuoted(text, place);
  const quoted = folded(text.replaceAll("'", "''"), { ...place, column: place.column + 1 }, { from: 1, to: text.length - 1 });
  return `'${quoted}'`;
}

interface Form {
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

// Characters beyond 16 bits are escaped too, as by Go's library.
const SPECIAL = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;
const INDICATOR = /^[#,[\]{}&*!|>'"%@`]|^(?:---|\.\.\.)|^[?:-](?:\s|$)|:(?:\s|$)|\s#/;

function analyse(text: string): Form {
  const isSpecial = SPECIAL.test(text) || / \n/.test(text);
  const hasBreakSpace = /\n /.test(text);
  const isEdged = /^[ \n]|[ \n]$/.test(text);
  return {
    plain: !isSpecial && !isEdged && !text.includes('\n') && !INDICATOR.test(text),
    single: !isSpecial && !hasBreakSpace,
    block: !isSpecial && !text.endsWith(' '),
  };
}

/** Folds long lines at single spaces within the range. */
function folded(text: string, { column, indent, isKey }: ScalarPlace, { from, to }: { from: number; to: number }): string {
  if (isKey || column + text.length <= WIDTH) return text;
  let result = '';
  let at = column;
  let wasSpace = false;
  for (let i = 0; i < text.length; i++) {
    const isSpace = text[i] === ' ';
    if (isSpace && !wasSpace && at > WIDTH && i >= from && i < to && text[i + 1] !== ' ') {
      result += `\n${' '.repeat(indent)}`;
      at = indent;
    } else {
      result += text[i];
      if (!isLowSurrogate(text.charCodeAt(i))) at++;
    }
    wasSpace = isSpace;
  }
  return result;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const ESCAPES = lookupTable<string>({
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
});

function escaped(character: string): string {
  const replacement = ESCAPES[character];
  if (replacement !== undefined) return replacement;
  if (!SPECIAL.test(character)) return character;
  const code = character.codePointAt(0)!;
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
}

function doubleQuoted(text: string, { column, indent, isKey }: ScalarPlace): string {
  const characters = [...text];
  let result = '"';
  let at = column + 1;
  let wasSpace = false;
  for (const [i, character] of characters.entries()) {
    const isSpace = character === ' ';
    if (isSpace && !isKey && !wasSpace && at > WIDTH && i > 0 && i < characters.length - 1) {
      // A space at the start of a line would vanish.
      result += `\n${' '.repeat(indent)}${characters[i + 1] === ' ' ? '\\' : ''}`;
      at = indent;
    } else {
      const written = escaped(character);
      result += written;
      at += written.length === character.length ? 1 : written.length;
    }
    wasSpace = isSpace;
  }
  return `${result}"`;
}

function literal(text: string, { indent }: ScalarPlace): string {
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : /(?:^|\n)\n$/.test(text) ? '+' : '';
  const body = chomp === '-' ? text : text.slice(0, -1);
  const lines = body.split('\n').map((line) => (line === '' ? '' : ' '.repeat(indent) + line));
  return `|${hint}${chomp}\n${lines.join('\n')}`;
}
