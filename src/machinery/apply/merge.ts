import { getKey, type JsonObject, type JsonValue, type MutableJsonObject, setKey } from '../json/json-value.ts';
import { type FieldSet, isMember } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import { asList, asMap, isEmptyMap, itemElement, memberElement, memberShape, valueTypeOf } from './typed-value.ts';

/** Merges a configuration into an object: its values win, lists and maps merge by their schema. Shares unchanged parts. */
export function mergeValues(shape: Shape, live: JsonValue | undefined, config: JsonValue | undefined): JsonValue | undefined {
  if (config === undefined || config === live) return live;
  if (live === undefined) return config;
  const valueType = valueTypeOf(shape, config);
  if (valueType === 'map' && shape.map !== undefined) return mergeMaps(shape.map, live, config);
  if (valueType === 'list' && shape.list !== undefined) return mergeLists(shape.list, live, config);
  return config;
}

function mergeMaps(map: MapShape, live: JsonValue, config: JsonValue): JsonValue | undefined {
  const before = asMap(live);
  const over = asMap(config);
  if (map.atomic || (isEmptyMap(before) && isEmptyMap(over))) return config;
  const out: MutableJsonObject = { ...before };
  for (const key in over) {
    const shape = memberShape(map, key);
    if (shape === undefined) continue;
    const merged = mergeValues(shape, before && getKey(before, key), over[key]);
    if (merged === undefined) delete out[key];
    else setKey(out, key, merged);
  }
  return out;
}

function mergeLists(list: ListShape, live: JsonValue, config: JsonValue): JsonValue | undefined {
  const before = asList(live) ?? [];
  const over = asList(config) ?? [];
  if (list.atomic || (before.length === 0 && over.length === 0)) return config;
  return new ListMerge(list, before, over).run();
}

interface Item {
  readonly element: PathElement;
  readonly value: JsonValue;
}

/** Interleaves two lists: the configuration's items keep their order, the object's other items stay between their neighbours. */
class ListMerge {
  private readonly live: readonly Item[];
  private readonly config: readonly Item[];
  private readonly liveByElement = new Map<PathElement, JsonValue>();
  private readonly configByElement = new Map<PathElement, JsonValue>();
  /** Elements of both lists, in the configuration's order; those from `sharedIndex` on are not placed yet. */
  private readonly shared: PathElement[];
  private readonly placed = new Set<PathElement>();
  private readonly out: JsonValue[] = [];
  private liveIndex = 0;
  private configIndex = 0;
  private sharedIndex = 0;

  constructor(
    private readonly list: ListShape,
    live: readonly JsonValue[],
    config: readonly JsonValue[],
  ) {
    this.live = live.map((value) => ({ element: itemElement(list, value), value }));
    this.config = config.map((value) => ({ element: itemElement(list, value), value }));
    // Items of the object with duplicate keys are replaced by the configuration's item, not merged.
    for (const { element, value } of this.live) this.liveByElement.set(element, this.liveByElement.has(element) ? null : value);
    for (const { element, value } of this.config) this.configByElement.set(element, value);
    this.shared = this.config.map((item) => item.element).filter((element) => this.liveByElement.has(element));
  }

  run(): JsonValue | undefined {
    while (this.liveIndex < this.live.length || this.configIndex < this.config.length) this.step();
    return this.out.length > 0 ? this.out : undefined;
  }

  private step(): void {
    const live = this.live[this.liveIndex];
    const config = this.config[this.configIndex];
    if (live === undefined) {
      if (config !== undefined) this.placeConfig(config.element);
    } else if (config?.element === live.element) {
      this.placeBoth(live.element);
    } else if (!this.configByElement.has(live.element)) {
      this.out.push(live.value);
      this.liveIndex++;
    } else this.stepShared(live.element, config);
  }

  // The object is at a shared item, the configuration at another: the configuration goes first, unless it still has to place another shared item,
  // which then includes this one.
  private stepShared(element: PathElement, config: Item | undefined): void {
    const awaited = this.shared[this.sharedIndex];
    if (config !== undefined && awaited !== undefined && awaited !== element) {
      this.liveIndex++;
      return;
    }
    if (this.placed.has(element)) this.liveIndex++;
    if (config !== undefined) this.placeConfig(config.element);
  }

  private placeBoth(element: PathElement): void {
    this.merge(element);
    this.liveIndex++;
    this.configIndex++;
    this.sharedIndex++;
  }

  private placeConfig(element: PathElement): void {
    this.merge(element);
    this.configIndex++;
    if (this.shared[this.sharedIndex] === element) this.sharedIndex++;
  }

  private merge(element: PathElement): void {
    this.placed.add(element);
    const merged = mergeValues(this.list.items, this.liveByElement.get(element), this.configByElement.get(element));
    if (merged !== undefined) this.out.push(merged);
  }
}

/** The value without the fields of the set. Values that become empty are null, as upstream. */
export function removeFields(shape: Shape, value: JsonValue, fields: FieldSet): JsonValue {
  const valueType = valueTypeOf(shape, value);
  if (valueType === 'map' && shape.map !== undefined) return removeMembers(shape.map, asMap(value), fields);
  if (valueType === 'list' && shape.list !== undefined) return removeItems(shape.list, asList(value), fields);
  return value;
}

function removeMembers(map: MapShape, value: JsonObject | undefined, fields: FieldSet): JsonValue {
  if (map.atomic || value === undefined) return null;
  const out: MutableJsonObject = {};
  for (const key of Object.keys(value)) {
    const member = value[key] as JsonValue;
    const node = fields[memberElement(map.fields.get(key), key)];
    if (node === undefined) setKey(out, key, member);
    else if (!isMember(node)) setKey(out, key, removeFields(memberShape(map, key) ?? {}, member, node));
  }
  return isEmptyMap(out) ? null : out;
}

function removeItems(list: ListShape, items: readonly JsonValue[] | undefined, fields: FieldSet): JsonValue {
  if (list.atomic || items === undefined) return null;
  const left: JsonValue[] = [];
  for (const item of items) {
    const node = fields[itemElement(list, item)];
    if (node === undefined) left.push(item);
    else if (!isMember(node)) left.push(removeFields(list.items, item, node));
  }
  return left.length > 0 ? left : null;
}
