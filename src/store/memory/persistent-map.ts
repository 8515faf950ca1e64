import type { KeyOrder } from '../key-order.ts';

/**
 * An immutable ordered map: `set` and `delete` return a new map that shares all but a path of nodes with the old one. A B+ tree;
 * nodes store their size, so that counting a range needs no traversal.
 */
export class PersistentMap<K, V> {
  readonly #order: KeyOrder<K>;
  readonly #root: Node<K, V>;

  private constructor(order: KeyOrder<K>, root: Node<K, V>) {
    this.#order = order;
    this.#root = root;
  }

  static empty<K, V>(order: KeyOrder<K>): PersistentMap<K, V> {
    return new PersistentMap<K, V>(order, { keys: [], values: [], children: undefined, size: 0 });
  }

  /** Builds a map from sorted unique keys and their values: much cheaper than repeated `set`. */
  static fromSorted<K, V>(order: KeyOrder<K>, keys: readonly K[], values: readonly V[]): PersistentMap<K, V> {
    let nodes = sliced(keys.length, (start, end) => leaf(keys.slice(start, end), values.slice(start, end)));
    while (nodes.length > 1) {
      const below = nodes;
      nodes = sliced(below.length, (start, end) => branch(below.slice(start, end)));
    }
    return nodes[0] === undefined ? PersistentMap.empty(order) : new PersistentMap(order, nodes[0]);
  }

  get size(): number {
    return this.#root.size;
  }

  /** The same entries; `order` must order those the same way. */
  withOrder(order: KeyOrder<K>): PersistentMap<K, V> {
    return order === this.#order ? this : new PersistentMap(order, this.#root);
  }

  get(key: K): V | undefined {
    const order = this.#order;
    let node = this.#root;
    while (node.children !== undefined) node = node.children[childIndex(node, key, order)]!;
    const at = lowerBound(node.keys, key, order);
    return at < node.keys.length && order(node.keys[at]!, key) === 0 ? node.values[at] : undefined;
  }

  set(key: K, value: V): PersistentMap<K, V> {
    const root = setIn(this.#root, { key, value, order: this.#order });
    return new PersistentMap(this.#order, root.length === 1 ? root[0]! : branch(root));
  }

  delete(key: K): PersistentMap<K, V> {
    const root = deleteIn(this.#root, key, this.#order);
    if (root === this.#root) return this;
    return new PersistentMap(this.#order, root.children?.length === 1 ? root.children[0]! : root);
  }

  /** How many keys are smaller than `key`. */
  rank(key: K): number {
    const order = this.#order;
    let node = this.#root;
    let before = 0;
    while (node.children !== undefined) {
      const at = childIndex(node, key, order);
      for (let i = 0; i < at; i++) before += node.children[i]!.size;
      node = node.children[at]!;
    }
    return before + lowerBound(node.keys, key, order);
  }

  /** Calls `visit` with each entry from `start` on (or all), in order, until it returns false. */
  visit(start: K | undefined, visit: (key: K, value: V) => boolean): void {
    visitNode(this.#root, start, { visit, order: this.#order });
  }
}

const FANOUT = 32;

/** A leaf has `values`; a branch has `children`, and as `keys` the smallest key below each of them. */
interface Node<K, V> {
  readonly keys: readonly K[];
  readonly values: readonly V[];
  readonly children: readonly Node<K, V>[] | undefined;
  readonly size: number;
}

interface Insertion<K, V> {
  readonly key: K;
  readonly value: V;
  readonly order: KeyOrder<K>;
}

/** The first index whose key is not smaller. */
function lowerBound<K>(keys: readonly K[], key: K, order: KeyOrder<K>): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order(keys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child that holds `key`, if any does. */
function childIndex<K, V>(node: Node<K, V>, key: K, order: KeyOrder<K>): number {
  const at = lowerBound(node.keys, key, order);
  return at < node.keys.length && order(node.keys[at]!, key) === 0 ? at : Math.max(0, at - 1);
}

function leaf<K, V>(keys: readonly K[], values: readonly V[]): Node<K, V> {
  return { keys, values, children: undefined, size: keys.length };
}

function branch<K, V>(children: readonly Node<K, V>[]): Node<K, V> {
  const keys = new Array<K>(children.length);
  let size = 0;
  for (let i = 0; i < children.length; i++) {
    keys[i] = children[i]!.keys[0]!;
    size += children[i]!.size;
  }
  return { keys, values: [], children, size };
}

/** Applies `make` to each run of a node's length. */
function sliced<T>(length: number, make: (start: number, end: number) => T): T[] {
  const parts: T[] = [];
  for (let start = 0; start < length; start += FANOUT) parts.push(make(start, Math.min(start + FANOUT, length)));
  return parts;
}

function replaced<T>(list: readonly T[], at: number, item: T): T[] {
  const copy = list.slice();
  copy[at] = item;
  return copy;
}

function spliced<T>(list: readonly T[], at: number, remove: number, items: readonly T[]): T[] {
  return [...list.slice(0, at), ...items, ...list.slice(at + remove)];
}

/** The node with the entry set, as one node or, when it was full, two. */
function setIn<K, V>(node: Node<K, V>, setting: Insertion<K, V>): readonly Node<K, V>[] {
  if (node.children === undefined) return setInLeaf(node, setting);
  const at = childIndex(node, setting.key, setting.order);
  const parts = setIn(node.children[at]!, setting);
  const [child] = parts;
  if (parts.length === 1 && child!.keys[0] === node.keys[at]) return [withChild(node, at, child!)];
  const children = parts.length === 1 ? replaced(node.children, at, child!) : spliced(node.children, at, 1, parts);
  if (children.length <= FANOUT) return [branch(children)];
  const cut = splitPoint(children.length, at);
  return [branch(children.slice(0, cut)), branch(children.slice(cut))];
}

/** The branch with another child that begins with the same key: most sets replace a value. */
function withChild<K, V>({ keys, values, children, size }: Node<K, V>, at: number, child: Node<K, V>): Node<K, V> {
  const old = children![at]!;
  return { keys, values, children: replaced(children!, at, child), size: size + child.size - old.size };
}

function setInLeaf<K, V>(node: Node<K, V>, { key, value, order }: Insertion<K, V>): readonly Node<K, V>[] {
  const at = lowerBound(node.keys, key, order);
  if (at < node.keys.length && order(node.keys[at]!, key) === 0) return [leaf(node.keys, replaced(node.values, at, value))];
  const keys = spliced(node.keys, at, 0, [key]);
  const values = spliced(node.values, at, 0, [value]);
  if (keys.length <= FANOUT) return [leaf(keys, values)];
  const cut = splitPoint(keys.length, at);
  return [leaf(keys.slice(0, cut), values.slice(0, cut)), leaf(keys.slice(cut), values.slice(cut))];
}

/** Appending (history, names with a counter) leaves full nodes behind; other insertions split in halves. */
function splitPoint(length: number, at: number): number {
  return at >= length - 2 ? length - 2 : length >>> 1;
}

function deleteIn<K, V>(node: Node<K, V>, key: K, order: KeyOrder<K>): Node<K, V> {
  if (node.children === undefined) {
    const at = lowerBound(node.keys, key, order);
    if (at === node.keys.length || order(node.keys[at]!, key) !== 0) return node;
    return leaf(spliced(node.keys, at, 1, []), spliced(node.values, at, 1, []));
  }
  const at = childIndex(node, key, order);
  const child = deleteIn(node.children[at]!, key, order);
  if (child === node.children[at]) return node;
  if (child.size === 0) return branch(spliced(node.children, at, 1, []));
  return branch(mergedWithNeighbour(node.children, at, child));
}

/** `children` with `child` in its place, joined to a neighbour when both fit into half a node. */
function mergedWithNeighbour<K, V>(children: readonly Node<K, V>[], at: number, child: Node<K, V>): readonly Node<K, V>[] {
  const left = at > 0 ? at - 1 : at;
  const a = left === at ? child : children[left];
  const b = left === at ? children[at + 1] : child;
  if (a === undefined || b === undefined || a.keys.length + b.keys.length > FANOUT / 2) return replaced(children, at, child);
  return spliced(children, left, 2, [joined(a, b)]);
}

function joined<K, V>(a: Node<K, V>, b: Node<K, V>): Node<K, V> {
  if (a.children === undefined || b.children === undefined) return leaf([...a.keys, ...b.keys], [...a.values, ...b.values]);
  return branch([...a.children, ...b.children]);
}

interface Visitor<K, V> {
  readonly visit: (key: K, value: V) => boolean;
  readonly order: KeyOrder<K>;
}

function visitNode<K, V>(node: Node<K, V>, start: K | undefined, visiting: Visitor<K, V>): boolean {
  if (node.children === undefined) {
    for (let i = start === undefined ? 0 : lowerBound(node.keys, start, visiting.order); i < node.keys.length; i++) {
      if (!visiting.visit(node.keys[i]!, node.values[i]!)) return false;
    }
    return true;
  }
  const first = start === undefined ? 0 : childIndex(node, start, visiting.order);
  for (let i = first; i < node.children.length; i++) {
    if (!visitNode(node.children[i]!, i === first ? start : undefined, visiting)) return false;
  }
  return true;
}
