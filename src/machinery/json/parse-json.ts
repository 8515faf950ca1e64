import { ExactJsonParser, JsonSyntaxError, MAX_JSON_DEPTH, type ParsedDocument } from './exact-json-parser.ts';
import { scanJsonText } from './json-text-scan.ts';
import type { JsonValue } from './json-value.ts';

const NO_DUPLICATES: readonly never[] = Object.freeze([]);

/**
 * Parses JSON as an API server does: integers are exact (a bigint beyond 2^53), repeated keys are reported with their path, `__proto__` is an
 * ordinary key. Common texts cost JSON.parse and two scans; only unusual ones are parsed by hand. Throws JsonSyntaxError with Go's text.
 */
export function parseJson(input: Uint8Array | string): ParsedDocument {
  const bytes = typeof input === 'string' ? Buffer.from(input) : asBuffer(input);
  const scan = scanJsonText(bytes);
  if (scan.depth > MAX_JSON_DEPTH) throw new JsonSyntaxError('exceeded max depth');
  if (!scan.needsExactParser) {
    const parsed = parseNatively(typeof input === 'string' ? input : bytes.toString('utf8'));
    if (parsed !== undefined && countKeys(parsed.value) === scan.colons) return { value: parsed.value, duplicates: NO_DUPLICATES };
  }
  return new ExactJsonParser(bytes).parse();
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parseNatively(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    // The exact parser finds the same error and reports it in Go's words.
    return undefined;
  }
}

/** Counts all keys in a tree. Uses its own stack: a text may be nested deeper than the call stack allows. */
function countKeys(root: JsonValue): number {
  if (typeof root !== 'object' || root === null) return 0;
  const pending: object[] = [root];
  let count = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Array.isArray(node)) {
      for (const item of node) if (typeof item === 'object' && item !== null) pending.push(item);
      continue;
    }
    for (const key in node) {
      count++;
      const member = (node as Record<string, unknown>)[key];
      if (typeof member === 'object' && member !== null) pending.push(member);
    }
  }
  return count;
}
