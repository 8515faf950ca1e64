import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { EMPTY_SET, type FieldSet, isEmpty, isMember, LEAF, NodeBuilder } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import { isDeducedMap, type ListShape, type MapShape, type Shape } from './shape.ts';
import { isMadeFor } from './shared-sets.ts';
import { asList, asMap, isEmptyMap, itemElement, memberElement, memberShape, valueTypeOf } from './typed-value.ts';

/** The fields that an object sets, and that applying it owns: leaves, list items, map keys, and explicit nulls. */
export function fieldsOfObject(shape: Shape, object: JsonObject): FieldSet {
  return ownNode(shape, object, false) ?? EMPTY_SET;
}

function ownNode(shape: Shape, value: JsonValue, member: boolean): FieldSet | undefined {
  const valueType = valueTypeOf(shape, value);
  if (valueType === 'map' && shape.map !== undefined) return ownMap(shape.map, asMap(value), member);
  if (valueType === 'list' && shape.list !== undefined) return ownList(shape.list, asList(value), member);
  return LEAF;
}

function ownMap(map: MapShape, value: JsonObject | undefined, member: boolean): FieldSet | undefined {
  if (map.atomic) return LEAF;
  const builder = new NodeBuilder();
  for (const key in value) {
    const item = value[key];
    if (item === undefined) continue;
    const declared = map.fields.get(key);
    const shape = declared?.shape ?? map.values;
    if (shape !== undefined) builder.add(memberElement(declared, key), ownNode(shape, item, declared === undefined || isBare(item)));
  }
  return builder.build(member);
}

// Null and {} have no children to own, so they are owned themselves.
function isBare(value: JsonValue): boolean {
  if (value === null) return true;
  const map = asMap(value);
  return map !== undefined && isEmptyMap(map);
}

function ownList(list: ListShape, items: readonly JsonValue[] | undefined, member: boolean): FieldSet | undefined {
  if (list.atomic) return LEAF;
  const nodes = new Map<PathElement, FieldSet>();
  for (const item of items ?? []) {
    const element = itemElement(list, item);
    nodes.set(element, nodes.has(element) ? LEAF : (ownNode(list.items, item, true) ?? LEAF));
  }
  const builder = new NodeBuilder();
  for (const [element, node] of nodes) builder.add(element, node);
  return builder.build(member);
}

/** Adds every declared field on the way to each path, so that removing the set also removes emptied parents. */
export function withNamedFields(set: FieldSet, shape: Shape | undefined): FieldSet {
  return namedNode(set, shape, false) ?? EMPTY_SET;
}

function namedNode(node: FieldSet, shape: Shape | undefined, member: boolean): FieldSet | undefined {
  const builder = new NodeBuilder();
  for (const element in node) {
    if (element === '.') continue;
    const child = node[element] as FieldSet;
    const isDeclared = element.startsWith('f:') && shape?.map?.fields.has(element.slice(2)) === true;
    builder.add(element, isEmpty(child) ? child : namedNode(child, shapeAt(shape, element), isDeclared || isMember(child)));
  }
  return builder.build(member);
}

function shapeAt(shape: Shape | undefined, element: PathElement): Shape | undefined {
  if (element.startsWith('f:')) return shape?.map === undefined ? undefined : memberShape(shape.map, element.slice(2));
  return shape?.list?.items;
}

/** The set converted to the current schema, in which a granular map or list may have become atomic. */
export function reconcileWithSchema(set: FieldSet, shape: Shape): FieldSet {
  return shape.map === undefined || isMadeFor(set, shape) ? set : reconcileChildren(set, shape);
}

function reconcileChildren(node: FieldSet, shape: Shape): FieldSet {
  for (const element in node) {
    const child = node[element] as FieldSet;
    if (element !== '.' && reconcileChild(child, shape, element) !== child) return reconciledCopy(node, shape);
  }
  return node;
}

// Schemas rarely change this way: copies only after the first difference.
function reconciledCopy(node: FieldSet, shape: Shape): FieldSet {
  const builder = new NodeBuilder();
  for (const element in node) {
    if (element !== '.') builder.add(element, reconcileChild(node[element] as FieldSet, shape, element));
  }
  return builder.build(node['.'] !== undefined) ?? LEAF;
}

function reconcileChild(child: FieldSet, shape: Shape, element: PathElement): FieldSet {
  if (isEmpty(child)) return child;
  const childShape = shapeAt(shape, element);
  return childShape === undefined ? child : reconcileNode(child, childShape);
}

function reconcileNode(node: FieldSet, shape: Shape): FieldSet {
  if (shape.map !== undefined) {
    if (isDeducedMap(shape.map)) return node;
    return shape.map.atomic ? LEAF : reconcileChildren(node, shape);
  }
  if (shape.scalar !== undefined || shape.list === undefined) return node;
  return shape.list.atomic ? LEAF : reconcileChildren(node, shape);
}
