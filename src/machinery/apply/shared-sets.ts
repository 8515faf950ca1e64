import { encodeJson } from '../json/encode-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { isRecurring, oncePerPair } from '../objects/recurring.ts';
import type { FieldPaths } from './field-filter.ts';
import { type FieldSet, isEmpty, isLargeNode, LEAF } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import type { KeyShape, ListShape, MapShape, Shape } from './shape.ts';
import { valueTypeOf } from './typed-value.ts';

/** The table is cleared when it has this many entries. */
const MAX_SETS = 1000;
/** Longer texts are not kept: objects with so many fields are rare, and 1000 of them would fill the heap. */
const MAX_TEXT = 16 << 10;

/**
 * Interns field sets: objects from one template have the same fields whatever their values, and a controller writes the same fields of each, so one
 * set, encoded once, serves all of them.
 */
export class SharedSets {
  readonly #byText = new Map<string, FieldSet>();
  readonly #nodes = new Map<string, FieldSet>();
  readonly #byOutline = new Map<FieldPaths | undefined, Map<string, FieldSet>>();
  readonly #shape: Shape;

  private constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** The sets of the objects of one type. */
  static of(shape: Shape): SharedSets {
    let sets = tables.get(shape);
    if (sets === undefined) {
      sets = new SharedSets(shape);
      tables.set(shape, sets);
    }
    return sets;
  }

  /** The interned set, if there is an equal one. */
  share(set: FieldSet): FieldSet {
    if (origins.has(set) || isLong(set)) return set;
    const text = JSON.stringify(set);
    if (text.length > MAX_TEXT) return set;
    const cached = this.#byText.get(text);
    if (cached === undefined) return this.#shareNew(set, text);
    // Interned when it recurs: a set with a pod's address would keep its text as long as the pod.
    origins.get(cached)!.text = text;
    return cached;
  }

  #shareNew(set: FieldSet, text: string): FieldSet {
    const shared = this.#withSharedNodes(set);
    remember(this.#byText, text, shared);
    origins.set(shared, { text: undefined, shape: this.#shape });
    return shared;
  }

  /** The same set built from shared nodes: sets of pods differ only in their addresses. */
  #withSharedNodes(set: FieldSet): FieldSet {
    const shared: Record<PathElement, FieldSet> = {};
    for (const element in set) shared[element as PathElement] = this.#sharedNode(set[element as PathElement]!);
    return shared;
  }

  #sharedNode(node: FieldSet): FieldSet {
    if (isEmpty(node)) return LEAF;
    const text = JSON.stringify(node);
    let shared = this.#nodes.get(text);
    if (shared === undefined) {
      shared = this.#withSharedNodes(node);
      remember(this.#nodes, text, shared);
    }
    return shared;
  }

  /** The fields owned by the creator of `object`; `compute` runs for the first of its kind. */
  created(object: JsonObject, resetFields: FieldPaths | undefined, compute: () => FieldSet): FieldSet {
    let cached = this.#byOutline.get(resetFields);
    if (cached === undefined) {
      cached = new Map();
      this.#byOutline.set(resetFields, cached);
    }
    const { spec } = object;
    if (!isJsonObject(spec) || !isRecurring(spec)) return this.#withOutline(cached, outlineOf(this.#shape, object), compute);
    const rest = Object.assign({}, object, { spec: undefined });
    return this.#withOutline(outlinesBeside(spec, cached), outlineOf(this.#shape, rest), compute);
  }

  #withOutline(cache: Map<string, FieldSet>, outline: string, compute: () => FieldSet): FieldSet {
    let set = cache.get(outline);
    if (set === undefined) {
      set = this.share(compute());
      remember(cache, outline, set);
    }
    return set;
  }
}

/** Whether its text is certainly too long, without writing it. */
function isLong(set: FieldSet): boolean {
  let left = MAX_TEXT / MIN_ELEMENT;
  const countDown = (node: FieldSet): void => {
    if (isLargeNode(node)) left = 0;
    else
      for (const element in node) {
        if (--left <= 0) return;
        countDown(node[element as PathElement]!);
      }
  };
  countDown(set);
  return left <= 0;
}

/** `"f:":{}` */
const MIN_ELEMENT = 7;

interface Origin {
  text: string | undefined;
  readonly shape: Shape;
}

const tables = new WeakMap<Shape, SharedSets>();
const origins = new WeakMap<FieldSet, Origin>();

/** Sets of objects with this very spec, by the outline of everything else. */
const outlinesBeside = oncePerPair((_spec: object, _known: Map<string, FieldSet>) => new Map<string, FieldSet>());

function remember<T>(table: Map<string, T>, key: string, value: T): void {
  if (key.length > MAX_TEXT) return;
  if (table.size >= MAX_SETS) table.clear();
  table.set(key, value);
}

/** A shared set as JSON text; undefined for one that is not shared, or not yet. */
export function sharedText(set: FieldSet): string | undefined {
  return origins.get(set)?.text;
}

/** Whether the set was computed for this shape, not for an older one. */
export function isMadeFor(set: FieldSet | undefined, shape: Shape): boolean {
  return set !== undefined && origins.get(set)?.shape === shape;
}

/**
 * Everything that determines an object's set of fields: names and kinds of values, and the keys of list items. One that is too long to be kept
 * may be incomplete.
 */
function outlineOf(shape: Shape, value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return scalarOutline(value);
  const valueType = valueTypeOf(shape, value);
  if (valueType === 'map' && shape.map !== undefined && !Array.isArray(value)) return mapOutline(shape.map, value as JsonObject);
  if (valueType === 'list' && shape.list !== undefined && Array.isArray(value)) return listOutline(shape.list, value);
  return encodeJson(value);
}

// A field that is always encoded counts as set only when its value is not the empty one.
function scalarOutline(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'e' : value === '0' ? 'z' : 's';
    case 'number':
      return value === 0 ? 'Z' : 'n';
    case 'boolean':
      return value ? 't' : 'f';
    default:
      return value === null ? '-' : 'i';
  }
}

// An atomic map is one field whatever it contains, except when it is empty; the outline includes that.
function atomicOutline(value: JsonObject): string {
  let outline = '{';
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    outline += `${key.length}:${key}${typeof member === 'object' && member !== null ? encodeJson(member) : scalarOutline(member)}`;
  }
  return `${outline}}`;
}

function mapOutline(map: MapShape, value: JsonObject): string {
  if (map.atomic) return atomicOutline(value);
  let outline = '{';
  for (const key in value) {
    if (outline.length > MAX_TEXT) break;
    const member = value[key];
    const shape = member === undefined ? undefined : (map.fields.get(key)?.shape ?? map.values);
    // Prefixed by its length, so that names are unambiguous.
    if (shape !== undefined) outline += `${key.length}:${key}${outlineOf(shape, member as JsonValue)}`;
  }
  return `${outline}}`;
}

function listOutline(list: ListShape, items: readonly JsonValue[]): string {
  if (list.atomic) return items.length === 0 ? '[]' : '[*]';
  let outline = '[';
  for (const item of items) {
    if (outline.length > MAX_TEXT) break;
    const isKeyed = list.keys !== undefined && typeof item === 'object' && item !== null && !Array.isArray(item);
    outline += isKeyed ? keyOutline(list.keys, item as JsonObject) + outlineOf(list.items, item) : encodeJson(item);
    outline += ',';
  }
  return `${outline}]`;
}

function keyOutline(keys: readonly KeyShape[], item: JsonObject): string {
  let outline = '';
  for (const { name } of keys) outline += `${encodeJson(item[name] ?? null)}/`;
  return outline;
}
