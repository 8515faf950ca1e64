import { lookupTable } from '#base';
import { type CelLibrary, declare, method, overload } from '../check/declarations.ts';
import { DYN, INT, listType, STRING } from '../types.ts';
import { CelList } from '../values/containers.ts';
import { displayValue } from '../values/inspect.ts';
import { type CelInt, EvalFailure } from '../values/value.ts';
import { formatString } from './string-format.ts';

function outOfRange(index: CelInt): EvalFailure {
  return new EvalFailure(`index out of range: ${index}`);
}

function charAt(text: string, position: CelInt): string {
  const characters = Array.from(text);
  if (position < 0 || position > characters.length) throw outOfRange(position);
  return characters[Number(position)] ?? '';
}

function indexOf(text: string, part: string, offset: CelInt = 0): CelInt {
  if (part === '') return offset;
  if (offset < 0) throw outOfRange(offset);
  const characters = Array.from(text);
  if (offset >= characters.length) return -1;
  const start = characters.slice(0, Number(offset)).join('').length;
  return characterIndex(text, text.indexOf(part, start));
}

/** The index in characters of an index in UTF-16 units. */
function characterIndex(text: string, unitIndex: number): number {
  return unitIndex < 0 ? -1 : Array.from(text.slice(0, unitIndex)).length;
}

function lastIndexOf(text: string, part: string): CelInt {
  const length = Array.from(text).length;
  if (part === '') return length;
  return length === 0 ? -1 : lastIndexOfFrom(text, part, length - 1);
}

function lastIndexOfFrom(text: string, part: string, offset: CelInt): CelInt {
  if (part === '') return offset;
  if (offset < 0) throw outOfRange(offset);
  const characters = Array.from(text);
  if (offset >= characters.length) return -1;
  const start = characters.slice(0, Number(offset)).join('').length;
  return characterIndex(text, text.lastIndexOf(part, start));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Replaces as Go does: an empty `from` is found before each character and at the end. */
function replace(text: string, from: string, to: string, count: CelInt = -1): string {
  const limit = count < 0 ? Number.POSITIVE_INFINITY : Number(count);
  if (limit === 0 || from === to) return text;
  const parts = from === '' ? ['', ...Array.from(text)] : text.split(from);
  const replaced = from === '' ? [...parts.slice(0, -1), parts.at(-1) ?? '', ''] : parts;
  return joinFirst(from === '' && text === '' ? ['', ''] : replaced, { from, to, limit });
}

function joinFirst(parts: readonly string[], options: { readonly from: string; readonly to: string; readonly limit: number }): string {
  const { from, to, limit } = options;
  return parts.reduce((joined, part, i) => (i === 0 ? part : joined + (i <= limit ? to : from) + part), '');
}

function split(text: string, separator: string, count: CelInt = -1): CelList {
  const limit = Number(count);
  if (limit === 0) return CelList.of([]);
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return CelList.of(parts);
  return CelList.of([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]);
}

function substring(text: string, start: CelInt): string {
  const characters = Array.from(text);
  if (start < 0 || start > characters.length) throw outOfRange(start);
  return characters.slice(Number(start)).join('');
}

function substringRange(text: string, start: CelInt, end: CelInt): string {
  const characters = Array.from(text);
  if (start > end) throw new EvalFailure(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > characters.length) throw outOfRange(start);
  if (end > characters.length) throw outOfRange(end);
  return characters.slice(Number(start), Number(end)).join('');
}

// Go's unicode.IsSpace.
const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
// bounded: one repetition at the start, and one character.
const LEADING_SPACE = new RegExp(`^${SPACE}+`);
const ONE_SPACE = new RegExp(`^${SPACE}$`);

function trim(text: string): string {
  let end = text.length;
  // Scanned from the end: a regular expression would try every run of spaces.
  while (end > 0 && ONE_SPACE.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end).replace(LEADING_SPACE, '');
}

function join(list: CelList, separator = ''): string {
  const parts = list.values().map((item) => {
    if (typeof item !== 'string') throw new EvalFailure(`join: invalid input: ${displayValue(item)}`);
    return item;
  });
  return parts.join(separator);
}

const QUOTE_ESCAPES = lookupTable<string>({
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
});

function quote(text: string): string {
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\ufffd');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return `"${wellFormed.replace(/[\u0007-\r"\\]/g, (char) => QUOTE_ESCAPES[char] ?? char)}"`;
}

const TEXTS = listType(STRING);

export const STRINGS_LIBRARY: CelLibrary = {
  functions: [
    declare('charAt', method('string_char_at_int', { args: [STRING, INT], result: STRING }, charAt)),
    declare(
      'indexOf',
      method('string_index_of_string', { args: [STRING, STRING], result: INT }, indexOf),
      method('string_index_of_string_int', { args: [STRING, STRING, INT], result: INT }, indexOf),
    ),
    declare(
      'lastIndexOf',
      method('string_last_index_of_string', { args: [STRING, STRING], result: INT }, lastIndexOf),
      method('string_last_index_of_string_int', { args: [STRING, STRING, INT], result: INT }, lastIndexOfFrom),
    ),
    declare('lowerAscii', method('string_lower_ascii', { args: [STRING], result: STRING }, lowerAscii)),
    declare(
      'replace',
      method('string_replace_string_string', { args: [STRING, STRING, STRING], result: STRING }, replace),
      method('string_replace_string_string_int', { args: [STRING, STRING, STRING, INT], result: STRING }, replace),
    ),
    declare(
      'split',
      method('string_split_string', { args: [STRING, STRING], result: TEXTS }, split),
      method('string_split_string_int', { args: [STRING, STRING, INT], result: TEXTS }, split),
    ),
    declare(
      'substring',
      method('string_substring_int', { args: [STRING, INT], result: STRING }, substring),
      method('string_substring_int_int', { args: [STRING, INT, INT], result: STRING }, substringRange),
    ),
    declare('trim', method('string_trim', { args: [STRING], result: STRING }, trim)),
    declare('upperAscii', method('string_upper_ascii', { args: [STRING], result: STRING }, upperAscii)),
    declare('format', method('string_format', { args: [STRING, listType(DYN)], result: STRING }, formatString)),
    declare('strings.quote', overload('strings_quote', { args: [STRING], result: STRING }, quote)),
    declare(
      'join',
      method('list_join', { args: [TEXTS], result: STRING }, join),
      method('list_join_string', { args: [TEXTS, STRING], result: STRING }, join),
    ),
  ],
};

/** `"abc".reverse()`, which is newer than the API server's strings library. */
export const STRING_REVERSE_LIBRARY: CelLibrary = {
  functions: [
    declare(
      'reverse',
      method('string_reverse', { args: [STRING], result: STRING }, (text: string) => Array.from(text).reverse().join('')),
    ),
  ],
};
