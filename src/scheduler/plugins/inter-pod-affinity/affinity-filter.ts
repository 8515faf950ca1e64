import { type AffinityTerm, type NamespaceLabels, termMatches } from '../../framework/affinity-term.ts';
import type { CloneableState } from '../../framework/cycle-state.ts';
import { DomainMemo } from '../../framework/domain-memo.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { PodQuery, Snapshot } from '../../framework/snapshot.ts';
import { type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { TopologyCounts } from './topology-counts.ts';

export const NAME = 'InterPodAffinity';
const AFFINITY = unresolvable(NAME, "node(s) didn't match pod affinity rules");
const ANTI_AFFINITY = unschedulable(NAME, "node(s) didn't match pod anti-affinity rules");
const EXISTING_ANTI_AFFINITY = unschedulable(NAME, "node(s) didn't satisfy existing pods anti-affinity rules");

interface Counts {
  /** Pods whose anti-affinity keeps this one away. */
  readonly existingAntiAffinity: TopologyCounts;
  /** Pods that match all terms of the pod's affinity. */
  readonly affinity: TopologyCounts;
  /** Pods that match a term of the pod's anti-affinity. */
  readonly antiAffinity: TopologyCounts;
}

/** The result of required (anti-)affinity per domain, for one pod. */
export class AffinityFilterState implements CloneableState {
  /** If all terms have one topology key, all nodes of a domain give the same result. Not used in simulations. */
  #memo: DomainMemo | undefined;

  private constructor(
    private readonly pod: PodInfo,
    private readonly namespaces: NamespaceLabels,
    private readonly counts: Counts,
  ) {}

  /** Undefined when no affinity concerns the pod. */
  static of(pod: PodInfo, snapshot: Snapshot, namespaces: NamespaceLabels): AffinityFilterState | undefined {
    const { requiredAffinity, requiredAntiAffinity } = pod.affinity;
    const existingAntiAffinity = new TopologyCounts();
    for (const { term, domains } of snapshot.placedTerms('requiredAntiAffinity')) {
      if (termMatches(term, pod, namespaces)) existingAntiAffinity.addDomains(term.topologyKey, domains, 1);
    }
    if (existingAntiAffinity.isEmpty && requiredAffinity.length === 0 && requiredAntiAffinity.length === 0) return undefined;
    const affinity = new TopologyCounts();
    if (requiredAffinity.length > 0) {
      const query = queryOf(requiredAffinity);
      for (const { topologyKey } of requiredAffinity) affinity.addDomains(topologyKey, snapshot.countPodsBy(topologyKey, query), 1);
    }
    const antiAffinity = new TopologyCounts();
    for (const term of requiredAntiAffinity) {
      antiAffinity.addDomains(term.topologyKey, snapshot.countPodsBy(term.topologyKey, queryOf([term])), 1);
    }
    const state = new AffinityFilterState(pod, namespaces, { existingAntiAffinity, affinity, antiAffinity });
    const terms = [...requiredAffinity, ...requiredAntiAffinity];
    const keys = new Set([...terms.map(({ topologyKey }) => topologyKey), ...existingAntiAffinity.keys]);
    const [only = ''] = keys;
    if (keys.size === 1) state.#memo = new DomainMemo(snapshot.topology(only));
    return state;
  }

  clone(): AffinityFilterState {
    const { existingAntiAffinity, affinity, antiAffinity } = this.counts;
    return new AffinityFilterState(this.pod, this.namespaces, {
      existingAntiAffinity: existingAntiAffinity.clone(),
      affinity: affinity.clone(),
      antiAffinity: antiAffinity.clone(),
    });
  }

  change(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    const { requiredAffinity, requiredAntiAffinity } = this.pod.affinity;
    const count = (counts: TopologyCounts, { topologyKey }: AffinityTerm) => {
      const value = node.labels[topologyKey];
      if (value !== undefined) counts.change(topologyKey, value, by);
    };
    for (const term of other.affinity.requiredAntiAffinity) {
      if (termMatches(term, this.pod, this.namespaces)) count(this.counts.existingAntiAffinity, term);
    }
    if (requiredAffinity.length > 0 && requiredAffinity.every((term) => termMatches(term, other, this.namespaces))) {
      for (const term of requiredAffinity) count(this.counts.affinity, term);
    }
    for (const term of requiredAntiAffinity) if (termMatches(term, other, this.namespaces)) count(this.counts.antiAffinity, term);
  }

  check(node: NodeInfo): Status | undefined {
    return this.#memo === undefined ? this.#checkNode(node) : this.#memo.check(node, this.#checkNode);
  }

  readonly #checkNode = (node: NodeInfo): Status | undefined => {
    if (!this.satisfiesAffinity(node)) return AFFINITY;
    if (!this.satisfiesAntiAffinity(node)) return ANTI_AFFINITY;
    return this.counts.existingAntiAffinity.touches(node) ? EXISTING_ANTI_AFFINITY : undefined;
  };

  private satisfiesAffinity({ labels }: NodeInfo): boolean {
    const { requiredAffinity } = this.pod.affinity;
    let allTermsMatch = true;
    for (const { topologyKey } of requiredAffinity) {
      const value = labels[topologyKey];
      if (value === undefined) return false;
      if (this.counts.affinity.get(topologyKey, value) <= 0) allTermsMatch = false;
    }
    if (allTermsMatch) return true;
    // The first pod of a group with affinity to itself matches no pod yet.
    return this.counts.affinity.isEmpty && requiredAffinity.every((term) => termMatches(term, this.pod, this.namespaces));
  }

  private satisfiesAntiAffinity({ labels }: NodeInfo): boolean {
    const { antiAffinity } = this.counts;
    if (antiAffinity.isEmpty) return true;
    return this.pod.affinity.requiredAntiAffinity.every(({ topologyKey }) => {
      const value = labels[topologyKey];
      return value === undefined || antiAffinity.get(topologyKey, value) <= 0;
    });
  }
}

/** Pods that match every one of the terms. */
export function queryOf(terms: readonly AffinityTerm[]): PodQuery {
  const [only] = terms;
  const isOfOneNamespace = terms.length === 1 && only?.namespaces.size === 1 && only.namespaceSelector.matchesNothing;
  return {
    id: `affinity ${terms.map(({ id }) => id).join(' ')}`,
    namespace: isOfOneNamespace ? [...only.namespaces][0] : undefined,
    matches: (pod, namespaces) => terms.every((term) => termMatches(term, pod, namespaces)),
  };
}
