import { getKey, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { EMPTY_SET, type FieldSet, isEmpty, LEAF, NodeBuilder } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';
import {
  asList,
  asMap,
  isEmptyMap,
  itemElement,
  memberElement,
  sameValueType,
  type ValueType,
  valuesEqual,
  valueTypeOf,
} from './typed-value.ts';

/** How a second object differs from a first. No path is in more than one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** Throws ListItemError for list items without a distinct identity. */
export function compareValues(shape: Shape, before: JsonValue, after: JsonValue): Comparison {
  if (before === after) return SAME;
  const level = new Level();
  new PresentPair(shape, before, after).compare(level);
  return {
    added: level.added?.build(false) ?? EMPTY_SET,
    modified: level.modified?.build(false) ?? EMPTY_SET,
    removed: level.removed?.build(false) ?? EMPTY_SET,
  };
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}

// The differences among the children of a field, and whether the field itself was modified.
class Level {
  added: NodeBuilder | undefined;
  modified: NodeBuilder | undefined;
  removed: NodeBuilder | undefined;
  selfModified = false;

  add(element: PathElement, node: FieldSet): void {
    this.added ??= new NodeBuilder();
    this.added.add(element, node);
  }

  remove(element: PathElement, node: FieldSet): void {
    this.removed ??= new NodeBuilder();
    this.removed.add(element, node);
  }

  modify(element: PathElement): void {
    this.modified ??= new NodeBuilder();
    this.modified.add(element, LEAF);
  }

  addChild(element: PathElement, child: Level): void {
    const added = child.added?.build(false);
    const removed = child.removed?.build(false);
    if (added !== undefined) this.add(element, added);
    if (removed !== undefined) this.remove(element, removed);
    const modified = child.modified === undefined ? selfNode(child.selfModified) : child.modified.build(child.selfModified);
    if (modified === undefined) return;
    this.modified ??= new NodeBuilder();
    this.modified.add(element, modified);
  }
}

function selfNode(member: boolean): FieldSet | undefined {
  return member ? LEAF : undefined;
}

// Compares two present values: the field itself can only be modified, not added or removed.
class PresentPair {
  constructor(
    private readonly shape: Shape,
    private readonly before: JsonValue,
    private readonly after: JsonValue,
  ) {}

  compare(level: Level): void {
    const { shape, before, after } = this;
    const valueType = valueTypeOf(shape, after);
    // Values of two kinds where both are allowed: the old kind's fields are removed, the new kind's added.
    if (!sameValueType(shape, before, after)) this.compareAs(valueTypeOf(shape, before), level);
    this.compareAs(valueType, level);
  }

  private compareAs(valueType: ValueType, level: Level): void {
    const { map, list } = this.shape;
    if (valueType === 'map' && map !== undefined) this.compareMaps(map, level);
    else if (valueType === 'list' && list !== undefined) this.compareLists(list, level);
    else this.compareLeaves(level);
  }

  private compareMaps(map: MapShape, level: Level): void {
    const before = asMap(this.before);
    const after = asMap(this.after);
    if (map.atomic || (isEmptyMap(before) && isEmptyMap(after))) this.compareLeaves(level);
    else compareMembers(map, { before: before ?? NOTHING, after: after ?? NOTHING }, level);
  }

  private compareLists(list: ListShape, level: Level): void {
    const before = asList(this.before) ?? [];
    const after = asList(this.after) ?? [];
    if (list.atomic || (before.length === 0 && after.length === 0)) this.compareLeaves(level);
    else compareItems(list, { before, after }, level);
  }

  // Also distinguishes an empty value from null.
  private compareLeaves(level: Level): void {
    if (!valuesEqual(this.before, this.after)) level.selfModified = true;
  }
}

const NOTHING: JsonObject = {};

function compareMembers(map: MapShape, { before, after }: { before: JsonObject; after: JsonObject }, level: Level): void {
  for (const key in after) {
    const value = after[key];
    const old = getKey(before, key);
    if (value === undefined || value === old) continue;
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    if (shape === undefined) continue;
    const element = memberElement(declared, key);
    if (old === undefined) level.add(element, wholeNode(shape, value));
    else comparePair(element, new PresentPair(shape, old, value), level);
  }
  for (const key in before) {
    const old = before[key];
    if (old === undefined || getKey(after, key) !== undefined) continue;
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    if (shape !== undefined) level.remove(memberElement(declared, key), wholeNode(shape, old));
  }
}

function comparePair(element: PathElement, pair: PresentPair, level: Level): void {
  const child = new Level();
  pair.compare(child);
  level.addChild(element, child);
}

// Every path at and below a value that was added or removed as a whole.
function wholeNode(shape: Shape, value: JsonValue): FieldSet {
  if (value === null) return LEAF;
  const valueType = valueTypeOf(shape, value);
  if (valueType === 'map' && shape.map !== undefined) return wholeMap(shape.map, asMap(value));
  if (valueType === 'list' && shape.list !== undefined) return wholeList(shape.list, asList(value) ?? []);
  return LEAF;
}

function wholeMap(map: MapShape, value: JsonObject | undefined): FieldSet {
  if (map.atomic || value === undefined) return LEAF;
  const builder = new NodeBuilder();
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    if (shape !== undefined) builder.add(memberElement(declared, key), wholeNode(shape, member));
  }
  return builder.build(true) ?? LEAF;
}

function wholeList(list: ListShape, items: readonly JsonValue[]): FieldSet {
  if (list.atomic || items.length === 0) return LEAF;
  const builder = new NodeBuilder();
  for (const [element, group] of groupByElement(list, items)) {
    // Items with the same key cannot be owned individually.
    builder.add(element, group.length > 1 ? LEAF : wholeNode(list.items, group[0] as JsonValue));
  }
  return builder.build(true) ?? LEAF;
}

function groupByElement(list: ListShape, items: readonly JsonValue[]): Map<PathElement, JsonValue[]> {
  const groups = new Map<PathElement, JsonValue[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

function compareItems(list: ListShape, lists: { before: readonly JsonValue[]; after: readonly JsonValue[] }, level: Level): void {
  const before = groupByElement(list, lists.before);
  const after = groupByElement(list, lists.after);
  for (const [element, old] of before) compareGroup(list, { element, old, now: after.get(element) ?? [] }, level);
  for (const [element, now] of after) if (!before.has(element)) compareGroup(list, { element, old: [], now }, level);
}

interface Group {
  readonly element: PathElement;
  readonly old: readonly JsonValue[];
  readonly now: readonly JsonValue[];
}

function compareGroup(list: ListShape, { element, old, now }: Group, level: Level): void {
  const [oldItem] = old;
  const [nowItem] = now;
  if (old.length > 1 && now.length > 1) {
    if (!valuesEqual(old, now)) level.modify(element);
  } else if (old.length > 1) {
    if (nowItem !== undefined) level.add(element, wholeNode(list.items, nowItem));
    level.remove(element, LEAF);
  } else if (now.length > 1) {
    if (oldItem !== undefined) level.remove(element, wholeNode(list.items, oldItem));
    level.add(element, LEAF);
  } else if (oldItem !== undefined && nowItem !== undefined) {
    if (oldItem !== nowItem) comparePair(element, new PresentPair(list.items, oldItem, nowItem), level);
  } else if (nowItem !== undefined) level.add(element, wholeNode(list.items, nowItem));
  else if (oldItem !== undefined) level.remove(element, wholeNode(list.items, oldItem));
}
