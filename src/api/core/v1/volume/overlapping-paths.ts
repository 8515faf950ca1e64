import { withoutTrailing } from '#base';

export interface MappedPath {
  readonly path: string;
  /** The source of the file. */
  readonly source: string;
}

export interface Overlap {
  readonly entry: MappedPath;
  /** Earlier paths in the list that are equal to it, or contain it, or are inside of it. */
  readonly other: MappedPath;
}

/** A path, sorted so that a directory's content follows it. */
interface PathNode {
  readonly text: string;
  /** The nearest listed parent directory. */
  readonly parent: PathNode | undefined;
  /** Paths encountered so far: one per source, in order. */
  readonly seen: Map<string, { readonly entry: MappedPath; readonly order: number }>;
  /** The number of distinct entries encountered at the last visit, by source. */
  readonly lookedAt: Map<string, number>;
}

/** Overlaps in list order, once per duplicate entry. Each iteration step is at most linear in the list. */
export function* overlappingEntries(paths: readonly MappedPath[]): Generator<Overlap, undefined> {
  const entries = paths.map(({ path, source }) => ({ path: withoutTrailing(path, '/'), source })).filter(({ path }) => path !== '');
  const nodes = sortedNodes(entries);
  const indexes = new Map(nodes.map(({ text }, index) => [text, index]));
  let count = 0;
  for (const entry of entries) {
    const index = indexes.get(entry.path)!;
    const node = nodes[index]!;
    // Already compared with everything encountered.
    if (node.lookedAt.get(entry.source) !== count) yield* overlapsOf(entry, nodes, index);
    if (!node.seen.has(entry.source)) node.seen.set(entry.source, { entry, order: count++ });
    node.lookedAt.set(entry.source, node.lookedAt.has(entry.source) ? count : -1);
  }
}

function sortedNodes(entries: readonly MappedPath[]): readonly PathNode[] {
  const names = [...new Set(entries.map(({ path }) => `${path}/`))].sort();
  const nodes: PathNode[] = [];
  let above: PathNode | undefined;
  for (const name of names) {
    while (above !== undefined && !name.startsWith(`${above.text}/`)) above = above.parent;
    const node: PathNode = { text: name.slice(0, -1), parent: above, seen: new Map(), lookedAt: new Map() };
    nodes.push(node);
    above = node;
  }
  return nodes;
}

function overlapsOf(entry: MappedPath, nodes: readonly PathNode[], index: number): readonly Overlap[] {
  const node = nodes[index]!;
  const related = [node];
  for (let above = node.parent; above !== undefined; above = above.parent) related.push(above);
  const prefix = `${node.text}/`;
  for (let i = index + 1; i < nodes.length && nodes[i]!.text.startsWith(prefix); i++) related.push(nodes[i]!);
  const others = related.flatMap(({ seen }) => [...seen.values()]).sort((a, b) => a.order - b.order);
  return others.map(({ entry: other }) => ({ entry, other }));
}
