import type { AffinityTerm } from '../framework/affinity-term.ts';
import type { NodeInfo } from '../framework/node-info.ts';
import type { PodInfo } from '../framework/pod-info.ts';
import type { PlacedTerm, TermKind } from '../framework/snapshot.ts';

interface TermEntry extends PlacedTerm {
  readonly domains: Map<string, number>;
  /** Counts all nodes, with or without the topology key: the term exists as long as a pod has it. */
  pods: number;
}

/** The distinct (anti-)affinity terms of placed pods: pods of one workload share an entry. */
export class PlacedTermIndex {
  readonly #kinds: Readonly<Record<TermKind, Map<string, TermEntry>>> = {
    requiredAntiAffinity: new Map(),
    requiredAffinity: new Map(),
    preferredAffinity: new Map(),
    preferredAntiAffinity: new Map(),
  };

  terms(kind: TermKind): Iterable<PlacedTerm> {
    return this.#kinds[kind].values();
  }

  podAdded(pod: PodInfo, node: NodeInfo): void {
    if (pod.hasAffinity) this.#change(pod, node, 1);
  }

  podRemoved(pod: PodInfo, node: NodeInfo): void {
    if (pod.hasAffinity) this.#change(pod, node, -1);
  }

  #change({ affinity }: PodInfo, node: NodeInfo, by: number): void {
    const count = (kind: TermKind, term: AffinityTerm, weight: number) => countTerm(this.#kinds[kind], { term, weight, node, by });
    for (const term of affinity.requiredAntiAffinity) count('requiredAntiAffinity', term, 1);
    for (const term of affinity.requiredAffinity) count('requiredAffinity', term, 1);
    for (const { term, weight } of affinity.preferredAffinity) count('preferredAffinity', term, weight);
    for (const { term, weight } of affinity.preferredAntiAffinity) count('preferredAntiAffinity', term, weight);
  }
}

interface TermChange {
  readonly term: AffinityTerm;
  readonly weight: number;
  readonly node: NodeInfo;
  readonly by: number;
}

function countTerm(terms: Map<string, TermEntry>, { term, weight, node, by }: TermChange): void {
  const id = `${weight} ${term.id}`;
  let placed = terms.get(id);
  if (placed === undefined) {
    placed = { term, weight, domains: new Map(), pods: 0 };
    terms.set(id, placed);
  }
  placed.pods += by;
  if (placed.pods <= 0) terms.delete(id);
  const domain = node.labels[term.topologyKey];
  if (domain === undefined) return;
  const count = (placed.domains.get(domain) ?? 0) + by;
  if (count > 0) placed.domains.set(domain, count);
  else placed.domains.delete(domain);
}
