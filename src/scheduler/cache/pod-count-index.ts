import type { NamespaceLabels } from '../framework/affinity-term.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { DomainCounts, PodCounts, PodQuery } from '../framework/snapshot.ts';

interface Counter {
  readonly query: PodQuery;
  readonly counts: Map<NodeInfo, number>;
  /** The counts summed by the requested topology keys. */
  readonly topologies: Map<string, Map<string, number>>;
}

/** Cached queries at most (LRU). */
const MAX_COUNTERS = 128;

/** Maintains counts of matching pods per node, so that each pod of a workload need not count the whole cluster. */
export class PodCountIndex {
  readonly #counters = new Map<string, Counter>();
  readonly #namespaces: NamespaceLabels;

  constructor(namespaces: NamespaceLabels) {
    this.#namespaces = namespaces;
  }

  counts(query: PodQuery, nodes: Iterable<NodeInfo>): PodCounts {
    return this.#counter(query, nodes).counts;
  }

  domains(topologyKey: string, query: PodQuery, nodes: Iterable<NodeInfo>): DomainCounts {
    const { counts, topologies } = this.#counter(query, nodes);
    let domains = topologies.get(topologyKey);
    if (domains === undefined) {
      domains = new Map();
      for (const [node, count] of counts) change(domains, node.labels[topologyKey], count);
      topologies.set(topologyKey, domains);
    }
    return domains;
  }

  #counter(query: PodQuery, nodes: Iterable<NodeInfo>): Counter {
    const existing = this.#counters.get(query.id);
    if (existing !== undefined) {
      // The map's order is least recently used first.
      this.#counters.delete(query.id);
      this.#counters.set(query.id, existing);
      return existing;
    }
    const counter: Counter = { query, counts: new Map(), topologies: new Map() };
    for (const node of nodes) for (const pod of node.pods.values()) this.#count(counter, { pod, node, by: 1 });
    this.#counters.set(query.id, counter);
    if (this.#counters.size > MAX_COUNTERS) this.#counters.delete(this.#counters.keys().next().value as string);
    return counter;
  }

  podAdded(pod: PodInfo, node: NodeInfo): void {
    for (const counter of this.#counters.values()) this.#count(counter, { pod, node, by: 1 });
  }

  podRemoved(pod: PodInfo, node: NodeInfo): void {
    for (const counter of this.#counters.values()) this.#count(counter, { pod, node, by: -1 });
  }

  /** Drops counts that depend on the labels of namespaces. */
  namespacesChanged(): void {
    for (const [id, { query }] of this.#counters) if (query.namespace === undefined) this.#counters.delete(id);
  }

  #count({ query, counts, topologies }: Counter, { pod, node, by }: { pod: PodInfo; node: NodeInfo; by: number }): void {
    if (query.namespace !== undefined && query.namespace !== pod.namespace) return;
    if (!query.matches(pod, this.#namespaces)) return;
    const count = (counts.get(node) ?? 0) + by;
    if (count <= 0) counts.delete(node);
    else counts.set(node, count);
    for (const [key, domains] of topologies) change(domains, node.labels[key], by);
  }
}

function change(domains: Map<string, number>, domain: string | undefined, by: number): void {
  if (domain === undefined) return;
  const count = (domains.get(domain) ?? 0) + by;
  if (count > 0) domains.set(domain, count);
  else domains.delete(domain);
}
