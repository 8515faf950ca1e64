import { encodeJson } from '../json/encode-json.ts';
import { isJsonObject, type JsonValue } from '../json/json-value.ts';
import { compareBytes, goFloat, goJsonEscape, goQuote } from '../values/go-format.ts';

/**
 * A step of a field path, in the text that fieldsV1 uses for it: `f:spec` is a field or a key of a map, `k:{"name":"c"}` the item of a list that
 * has these keys, `v:"a"` the member of a set, `i:3` a position. Two steps are the same when their texts are: keys are sorted and values
 * encoded in one way only.
 */
export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${encodeValue(value)}`;
}

/** `members` are `"name":value` texts, sorted by name. */
export function keyElement(members: readonly string[]): PathElement {
  return `k:{${members.join(',')}}`;
}

/** A value as the path element carries it, escaped as upstream's encoder does. */
export function encodeValue(value: JsonValue): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = encodeJson(value);
  return ESCAPED.test(text) ? goJsonEscape(text) : text;
}

const ESCAPED = /[<>&\u2028\u2029]/;

export class PathElementError extends Error {
  override readonly name = 'PathElementError';
}

/** The canonical element, or undefined for a kind of element from a later API version. */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new PathElementError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parseValue(text.slice(2)));
    case 'k':
      return keyElement(keyMembers(parseValue(text.slice(2))).map(({ name, value }) => `${encodeValue(name)}:${encodeValue(value)}`));
    case 'i':
      return indexElement(text.slice(2));
    default:
      return undefined;
  }
}

function indexElement(digits: string): PathElement {
  if (!/^[+-]?\d+$/.test(digits)) throw new PathElementError(`strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`);
  return `i:${Number(digits)}`;
}

function parseValue(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch (cause) {
    throw new PathElementError(`invalid JSON in path element: ${json}`, { cause });
  }
}

interface KeyMember {
  readonly name: string;
  readonly value: JsonValue;
}

function keyMembers(value: JsonValue): KeyMember[] {
  if (!isJsonObject(value)) throw new PathElementError('keys of a list item must be an object');
  return Object.keys(value)
    .sort(compareBytes)
    .map((name) => ({ name, value: value[name] ?? null }));
}

/** The element as error messages show it: `.spec`, `[name="c"]`, `[="a"]`, `[3]`. */
export function elementText(element: PathElement): string {
  const body = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${body}`;
    case 'k':
      return `[${keyMembers(parseValue(body))
        .map(({ name, value }) => `${name}=${valueText(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${valueText(parseValue(body))}]`;
    default:
      return `[${body}]`;
  }
}

export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join('');
}

function valueText(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goFloat(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (!isJsonObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${valueText(member)}`)
    .join('');
}

/** The order in which fieldsV1 lists its elements: fields, then keys, values and positions, each by content. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kindOfA = a.charCodeAt(0);
  const kindOfB = b.charCodeAt(0);
  if (kindOfA !== kindOfB) return KIND_ORDER.indexOf(a.charAt(0)) - KIND_ORDER.indexOf(b.charAt(0));
  if (kindOfA === FIELD) return a < b ? -1 : 1;
  if (kindOfA === KEY) return compareKeys(a, b);
  // Most sets are of strings: ordered without parsing.
  if (isPlainString(a) && isPlainString(b)) return compareBytes(a.slice(3, -1), b.slice(3, -1));
  return compareValues(parseValue(a.slice(2)), parseValue(b.slice(2)));
}

const KIND_ORDER = 'fkvi';
const FIELD = 'f'.charCodeAt(0);
const KEY = 'k'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);

function isPlainString(element: PathElement): boolean {
  return element.charCodeAt(2) === QUOTE && !element.includes('\\');
}

function compareKeys(a: PathElement, b: PathElement): number {
  const start = plainKeyStart(a);
  if (start > 0 && start === plainKeyStart(b) && a.startsWith(b.slice(0, start))) {
    return compareBytes(a.slice(start, -2), b.slice(start, -2));
  }
  return compareKeyMembers(keyMembers(parseValue(a.slice(2))), keyMembers(parseValue(b.slice(2))));
}

// Most lists have one string key: ordered by the string without parsing.
function plainKeyStart(element: PathElement): number {
  const colon = element.indexOf('":"');
  const plain = colon > 0 && element.endsWith('"}') && !element.includes('\\') && element.lastIndexOf('":') === colon;
  return plain ? colon + 3 : 0;
}

function compareKeyMembers(a: readonly KeyMember[], b: readonly KeyMember[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) return 1;
    const order = compareBytes(left.name, right.name) || compareValues(left.value, right.value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareValues(a: JsonValue, b: JsonValue): number {
  const rank = valueRank(a) - valueRank(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return compareBytes(a, b as string);
  if (a === null || b === null || typeof a === 'object') return compareBytes(encodeJson(a), encodeJson(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function valueRank(value: JsonValue): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}
