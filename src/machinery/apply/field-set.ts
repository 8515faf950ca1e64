import { StatusError } from '../errors/status-error.ts';
import { isJsonObject, type JsonValue } from '../json/json-value.ts';
import { compareElements, type PathElement, PathElementError, parseElement } from './path-element.ts';

/**
 * A set of field paths in the wire form of `managedFields[].fieldsV1`: a tree of path elements. A node without children is in the set; a node with a
 * `.` is in the set together with some of its descendants; any other node only contains descendants. The root is the whole object, which cannot be
 * owned: an empty root is the empty set. Nodes are sorted and immutable, so sets share structure with each other and with the objects they were read
 * from, and need no encoding.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type Mutable = { [element: PathElement]: FieldSet };

/** As a node: a path that is in the set. As a root: the empty set. */
export const LEAF: FieldSet = Object.freeze({});
export const EMPTY_SET: FieldSet = LEAF;

export function isEmpty(node: FieldSet): boolean {
  for (const _ in node) return false;
  return true;
}

/** Whether the path to this node is itself in the set. */
export function isMember(node: FieldSet): boolean {
  return node['.'] !== undefined || isEmpty(node);
}

/** etcd's default limit of a request. */
const MAX_STORED_BYTES = 1.5 * 1024 * 1024;
/** What `"":{},` adds to the text of an element. */
const ELEMENT_OVERHEAD = 6;

/** Even starting to enumerate the children of a node with so much text takes milliseconds. */
const LARGE_TEXT = 64 << 10;
const largeNodes = new WeakSet<FieldSet>();

/** Whether a node was built with thousands of children. Nodes that were read from an object are not recorded. */
export function isLargeNode(node: FieldSet): boolean {
  return largeNodes.has(node);
}

/**
 * Collects the children of a node, in any order, and makes the node. Throws the store's error as soon as their text alone is larger than any object
 * that it takes.
 */
export class NodeBuilder {
  private elements: PathElement[] = [];
  private nodes: FieldSet[] = [];
  private sorted = true;
  private textLength = 0;

  add(element: PathElement, node: FieldSet | undefined): void {
    if (node === undefined) return;
    this.textLength += element.length + ELEMENT_OVERHEAD;
    if (this.textLength > MAX_STORED_BYTES) throw StatusError.tooLargeToStore();
    const { elements, nodes } = this;
    let at = elements.length;
    if (at > 0 && this.sorted && compareElements(elements[at - 1] as PathElement, element) > 0) {
      // Few children are kept sorted on insertion; many are sorted at the end.
      if (at < FEW) at = this.placeOf(element);
      else this.sorted = false;
    }
    if (at === elements.length) {
      elements.push(element);
      nodes.push(node);
    } else {
      elements.splice(at, 0, element);
      nodes.splice(at, 0, node);
    }
  }

  private placeOf(element: PathElement): number {
    let at = this.elements.length - 1;
    while (at > 0 && compareElements(this.elements[at - 1] as PathElement, element) > 0) at--;
    return at;
  }

  /** The node, or undefined if it would be empty. */
  build(member: boolean): FieldSet | undefined {
    const count = this.elements.length;
    if (count === 0) return member ? LEAF : undefined;
    if (!this.sorted) this.sort();
    const { elements, nodes } = this;
    const out: Mutable = member ? { '.': LEAF } : {};
    for (let i = 0; i < count; i++) out[elements[i] as PathElement] = nodes[i] as FieldSet;
    if (this.textLength > LARGE_TEXT) largeNodes.add(out);
    return out;
  }

  private sort(): void {
    const { elements, nodes } = this;
    const order = elements.map((_, i) => i).sort((a, b) => compareElements(elements[a] as PathElement, elements[b] as PathElement));
    this.elements = order.map((i) => elements[i] as PathElement);
    this.nodes = order.map((i) => nodes[i] as FieldSet);
    this.sorted = true;
  }
}

const FEW = 32;

/** The set of these paths. */
export function setOfPaths(paths: readonly (readonly PathElement[])[]): FieldSet {
  return unionOf(paths.map(pathSet));
}

function pathSet(path: readonly PathElement[]): FieldSet {
  let node = LEAF;
  for (let i = path.length - 1; i >= 0; i--) node = { [path[i] as PathElement]: node };
  return node;
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  return unionChildren(a, b, {});
}

/** The union of many sets. Joins the children of each path in one step, so that no set is copied more than once. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? EMPTY_SET, sets[1] ?? EMPTY_SET);
  return unionOfChildren(sets).build(false) ?? EMPTY_SET;
}

function unionOfNodes(nodes: readonly FieldSet[]): FieldSet {
  if (nodes.length <= 2) return nodes.length === 1 ? nodes[0]! : unionNodes(nodes[0]!, nodes[1]!);
  // At least one is present: every node is in a set or has descendants that are.
  return unionOfChildren(nodes).build(nodes.some(isMember)) ?? LEAF;
}

function unionOfChildren(nodes: readonly FieldSet[]): NodeBuilder {
  const children = new Map<PathElement, FieldSet[]>();
  for (const node of nodes) {
    for (const element of childElements(node)) {
      const alike = children.get(element);
      if (alike === undefined) children.set(element, [node[element]!]);
      else alike.push(node[element]!);
    }
  }
  const builder = new NodeBuilder();
  for (const [element, alike] of children) builder.add(element, unionOfNodes(alike));
  return builder;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const member = isMember(a) || isMember(b);
  const out = unionChildren(a, b, member ? { '.': LEAF } : {});
  return member && Object.keys(out).length === 1 ? LEAF : out;
}

// Merges two sorted lists of children into a sorted one.
function unionChildren(a: FieldSet, b: FieldSet, out: Mutable): FieldSet {
  const left = childElements(a);
  const right = childElements(b);
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const x = left[i];
    const y = right[j];
    const order = x === undefined ? 1 : y === undefined ? -1 : compareElements(x, y);
    if (order < 0 && x !== undefined) out[x] = a[x] as FieldSet;
    else if (order > 0 && y !== undefined) out[y] = b[y] as FieldSet;
    else if (x !== undefined) out[x] = unionNodes(a[x] as FieldSet, b[x] as FieldSet);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return out;
}

function childElements(node: FieldSet): PathElement[] {
  const elements = Object.keys(node);
  return elements[0] === '.' ? elements.slice(1) : elements;
}

/** Whether every path of `b` is in `a`. */
export function includesAll(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  for (const element in b) {
    if (element === '.') continue;
    const own = a[element];
    const other = b[element] as FieldSet;
    if (own === undefined || (isMember(other) && !isMember(own)) || !includesAll(own, other)) return false;
  }
  return true;
}

/** Whether some path is in both. */
export function intersects(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    if (element === '.') continue;
    const own = a[element];
    const other = b[element] as FieldSet;
    if (own !== undefined && ((isMember(own) && isMember(other)) || intersects(own, other))) return true;
  }
  return false;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectChildren(a, b, false) ?? EMPTY_SET;
}

function intersectChildren(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  const builder = new NodeBuilder();
  for (const element of childElements(a)) {
    const other = b[element];
    if (other === undefined) continue;
    const node = a[element] as FieldSet;
    builder.add(element, intersectChildren(node, other, isMember(node) && isMember(other)));
  }
  return builder.build(member);
}

/** The paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return differenceOfNodes(a, b, NOT_MEMBER) ?? EMPTY_SET;
}

/** The paths of `a` that are not in `b`, nor below a path in `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  return differenceOfNodes(a, b, RECURSIVE) ?? EMPTY_SET;
}

interface DifferenceRule {
  readonly member: boolean;
  readonly recursive: boolean;
}
const NOT_MEMBER: DifferenceRule = { member: false, recursive: false };
const MEMBER: DifferenceRule = { member: true, recursive: false };
const RECURSIVE: DifferenceRule = { member: false, recursive: true };
const RECURSIVE_MEMBER: DifferenceRule = { member: true, recursive: true };

function differenceOfNodes(a: FieldSet, b: FieldSet, { member, recursive }: DifferenceRule): FieldSet | undefined {
  const builder = new NodeBuilder();
  let changed = false;
  for (const element of childElements(a)) {
    const node = a[element] as FieldSet;
    const other = b[element];
    const left = other === undefined ? node : differenceOfNode(node, other, recursive);
    changed ||= left !== node;
    builder.add(element, left);
  }
  return changed || member !== (a['.'] !== undefined) ? builder.build(member) : a;
}

function differenceOfNode(node: FieldSet, other: FieldSet, recursive: boolean): FieldSet | undefined {
  const removed = isMember(other);
  if (removed && (recursive || isEmpty(node))) return undefined;
  if (isEmpty(node)) return node;
  const member = isMember(node) && !removed;
  if (recursive) return differenceOfNodes(node, other, member ? RECURSIVE_MEMBER : RECURSIVE);
  return differenceOfNodes(node, other, member ? MEMBER : NOT_MEMBER);
}

export function setsEqual(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const elements = Object.keys(a);
  if (elements.length !== Object.keys(b).length) return false;
  return elements.every((element) => {
    const other = b[element];
    return other !== undefined && setsEqual(a[element] as FieldSet, other);
  });
}

/** Every path of the set, breadth first and sorted, as upstream lists conflicts. */
export function pathsOf(set: FieldSet): PathElement[][] {
  const paths: PathElement[][] = [];
  collectPaths(set, [], paths);
  return paths;
}

function collectPaths(node: FieldSet, prefix: readonly PathElement[], paths: PathElement[][]): void {
  const elements = childElements(node);
  for (const element of elements) {
    if (isMember(node[element] as FieldSet)) paths.push([...prefix, element]);
  }
  for (const element of elements) collectPaths(node[element] as FieldSet, [...prefix, element], paths);
}

/** Bounds the depth of every set, so functions on sets may recurse. */
const MAX_SET_DEPTH = 1000;

/** Parses a client's set. Unknown kinds of elements are dropped, overlong paths are truncated; sorted parts are shared, not copied. */
export function decodeFieldSet(fields: JsonValue): FieldSet {
  return decodeNode(fields, { member: false, depth: 0 }) ?? EMPTY_SET;
}

interface NodePlace {
  readonly member: boolean;
  readonly depth: number;
}

function decodeNode(fields: JsonValue, { member, depth }: NodePlace): FieldSet | undefined {
  if (fields === null) return undefined;
  if (!isJsonObject(fields)) throw new PathElementError('fields of a set must be objects');
  const builder = new NodeBuilder();
  let changed = false;
  let previous: PathElement | undefined;
  for (const key of Object.keys(fields)) {
    if (key === '.') continue;
    const element = parseElement(key);
    const child = element === undefined ? undefined : decodeMember(fields[key] ?? null, depth + 1);
    changed ||= element !== key || child !== fields[key] || (previous !== undefined && compareElements(previous, key) > 0);
    previous = key;
    if (element !== undefined) builder.add(element, child);
  }
  return changed || member !== '.' in fields ? builder.build(member) : (fields as unknown as FieldSet);
}

function decodeMember(fields: JsonValue, depth: number): FieldSet {
  if (depth >= MAX_SET_DEPTH) return LEAF;
  if (isJsonObject(fields) && isEmpty(fields as unknown as FieldSet)) return fields as unknown as FieldSet;
  const member = isJsonObject(fields) && '.' in fields;
  return decodeNode(fields, { member, depth }) ?? LEAF;
}
