import type { JsonValue } from '../json/json-value.ts';

const NAMED_ESCAPES = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);
const PLAIN = /^[ !#-[\]-~]*$/;
const NEEDS_ESCAPE = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Quotes a string as Go's `%q` does; the API's messages are full of it. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(NEEDS_ESCAPE, escapeRune)}"`;
}

function escapeRune(rune: string): string {
  const named = NAMED_ESCAPES.get(rune);
  if (named !== undefined) return named;
  const code = rune.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0');
}

/** Formats a number as Go's `%v` formats a float64: exponent form outside 1e-4 ≤ |n| < 1e21. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e21)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Formats a value as Go's `%v` formats decoded JSON: `map[a:b c:[1 2]]`, keys sorted, `<nil>` for null. */
export function goValue(value: JsonValue | undefined): string {
  const parts: string[] = [];
  const pending: PrintedValue[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    parts.push(next.prefix ?? '');
    if (typeof next.value !== 'object' || next.value === null) parts.push(next.isText ? '' : goScalar(next.value));
    else printContainer(next.value, parts, pending);
  }
  return parts.join('');
}

interface PrintedValue {
  readonly value?: JsonValue | undefined;
  readonly prefix?: string;
  /** The prefix is all. */
  readonly isText?: boolean;
}

function goScalar(value: Exclude<JsonValue, object> | null | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'number' ? goFloat(value) : String(value);
}

/** Uses an explicit stack: values may be nested deeper than the call stack allows. */
function printContainer(value: object, parts: string[], pending: PrintedValue[]): void {
  const isList = Array.isArray(value);
  const object = value as { readonly [key: string]: JsonValue };
  const keys = isList ? [...value.keys()].map(String) : Object.keys(value).sort(compareBytes);
  parts.push(isList ? '[' : 'map[');
  pending.push({ prefix: ']', isText: true });
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string;
    pending.push({ value: object[key], prefix: `${i === 0 ? '' : ' '}${isList ? '' : `${key}:`}` });
  }
}

/**
 * Orders strings as Go does, by their UTF-8 bytes. UTF-16 order differs only where surrogates meet characters above
 * U+D7FF, so the common case is a plain comparison.
 */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) - rank(y) : x - y;
  }
  return a.length - b.length;
}

// Surrogates stand for code points above every other UTF-16 unit.
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** Escapes JSON text as Go's encoder does by default, for embedding in HTML. */
export function goJsonEscape(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${hex(char.charCodeAt(0), 4)}`);
}
