import { withoutTrailing } from '#base';

export interface MappedPath {
  readonly path: string;
  /** What the file comes from. */
  readonly source: string;
}

export interface Overlap {
  readonly entry: MappedPath;
  /** What came before it in the list, and is the same file, a directory above it, or inside of it. */
  readonly other: MappedPath;
}

/** A path that occurs, in the order of names, in which what is below a directory follows it. */
interface PathNode {
  readonly text: string;
  /** The nearest directory above that occurs. */
  readonly parent: PathNode | undefined;
  /** What was met here so far: one of each source, with the order in which they were met. */
  readonly seen: Map<string, { readonly entry: MappedPath; readonly order: number }>;
  /** How many different entries were met in all when this path was looked at last, by source. */
  readonly lookedAt: Map<string, number>;
}

/** Overlaps in the order of the list. Those with a repeated entry come once. Each step of the iteration takes time linear in the list at most. */
export function* overlappingEntries(paths: readonly MappedPath[]): Generator<Overlap, undefined> {
  const entries = paths.map(({ path, source }) => ({ path: withoutTrailing(path, '/'), source })).filter(({ path }) => path !== '');
  const nodes = sortedNodes(entries);
  const indexes = new Map(nodes.map(({ text }, index) => [text, index]));
  let count = 0;
  for (const entry of entries) {
    const index = indexes.get(entry.path)!;
    const node = nodes[index]!;
    // What was compared with all that is known brings nothing new.
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
