import { encodeSortedJson } from '../json/encode-deep-json.ts';
import { getKey, isJsonArray, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { goFloat } from '../values/go-format.ts';
import { type FilterNode, JsonPathError, type PathNode, parseJsonPath, type SliceNode } from './parse-json-path.ts';

/**
 * A path into an object, as printer columns, scale and selectable fields have: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`.
 * A parsed path is used again and again, for every row of a table.
 */
export class JsonPath {
  private readonly nodes: readonly PathNode[];

  /** Throws JsonPathError. */
  constructor(path: string) {
    this.nodes = parseJsonPath(path);
  }

  /** All values at the path. Missing fields yield nothing; invalid steps (an index into a string) throw JsonPathError. */
  find(object: JsonValue): readonly JsonValue[] {
    return walk(this.nodes, [object]);
  }

  /** The first value, or undefined where there is none or the path cannot be followed. */
  first(object: JsonValue): JsonValue | undefined {
    try {
      return this.find(object)[0];
    } catch (error) {
      if (error instanceof JsonPathError) return undefined;
      throw error;
    }
  }
}

function walk(nodes: readonly PathNode[], input: readonly JsonValue[]): readonly JsonValue[] {
  let values = input;
  for (const node of nodes) values = step(node, values);
  return values;
}

function step(node: PathNode, values: readonly JsonValue[]): readonly JsonValue[] {
  switch (node.kind) {
    case 'field':
      return values.flatMap((value) => memberOf(value, node.name));
    case 'wildcard':
      return values.flatMap(childrenOf);
    case 'recursive':
      return descendantsOf(values);
    case 'slice':
      return values.flatMap((value) => slice(node, value));
    case 'filter':
      return values.flatMap((value) => filter(node, value));
    case 'union':
      return node.alternatives.flatMap((nodes) => walk(nodes, values));
    case 'literal':
      return values.map(() => node.value);
  }
}

function memberOf(value: JsonValue, name: string): readonly JsonValue[] {
  const member = isJsonObject(value) ? getKey(value, name) : undefined;
  return member === undefined ? [] : [member];
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

/** More than any object has; repeated recursive descent into a deep object is exponential in its depth. */
const MAX_DESCENDANTS = 1_000_000;

/** All that have children, parents first. */
function descendantsOf(values: readonly JsonValue[]): readonly JsonValue[] {
  const descendants: JsonValue[] = [];
  const pending = values.toReversed();
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const children = childrenOf(value);
    if (children.length === 0) continue;
    descendants.push(value);
    if (descendants.length > MAX_DESCENDANTS) throw new JsonPathError('too many values match');
    for (let i = children.length - 1; i >= 0; i--) pending.push(children[i] as JsonValue);
  }
  return descendants;
}

function slice(node: SliceNode, value: JsonValue): readonly JsonValue[] {
  if (value === null) return [];
  if (!isJsonArray(value)) throw new JsonPathError('value is not array or slice');
  const { length } = value;
  const start = fromEnd(node.start ?? 0, length);
  const end = node.end === undefined ? length : node.end < 0 || (node.end === 0 && node.isIndex) ? node.end + length : node.end;
  if (start === end) return [];
  if (start < 0 || start >= length) throw new JsonPathError(`array index out of bounds: index ${start}, length ${length}`);
  if (end < 0 || end > length) throw new JsonPathError(`array index out of bounds: index ${end - 1}, length ${length}`);
  if (start > end) throw new JsonPathError(`starting index ${start} is greater than ending index ${end}`);
  if (node.step !== undefined && node.step <= 0) throw new JsonPathError('step must be > 0');
  const step = node.step ?? 1;
  return value.slice(start, end).filter((_, i) => i % step === 0);
}

function fromEnd(index: number, length: number): number {
  return index < 0 ? index + length : index;
}

function filter(node: FilterNode, value: JsonValue): readonly JsonValue[] {
  if (!isJsonArray(value)) throw new JsonPathError('value is not array or slice and cannot be filtered');
  return value.filter((item) => passes(node, item));
}

function passes({ left, operator, right }: FilterNode, item: JsonValue): boolean {
  const lefts = walk(left, [item]);
  if (operator === 'exists') return lefts.length > 0;
  const rights = walk(right, [item]);
  if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('can only compare one element at a time');
  const [a] = lefts;
  const [b] = rights;
  return a !== undefined && b !== undefined && compare(a, operator, b);
}

function compare(a: JsonValue, operator: string, b: JsonValue): boolean {
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  if (!isOrdered(a) || typeof a !== typeof b) throw new JsonPathError('incompatible types for comparison');
  const other = b as typeof a;
  switch (operator) {
    case '<':
      return a < other;
    case '>':
      return a > other;
    case '<=':
      return a <= other;
    case '>=':
      return a >= other;
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
  }
}

function isOrdered(value: JsonValue): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

/** A value as a table shows it: text as it is, objects and lists as JSON. */
export function jsonPathText(value: JsonValue): string {
  if (typeof value === 'number') return goFloat(value);
  if (value === null) return '<nil>';
  if (typeof value !== 'object') return String(value);
  return encodeSortedJson(value);
}
