import type { NodeInfo } from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { PodCounts, Snapshot } from '../../framework/snapshot.ts';
import { countsFor, hasAllKeys, isOnEveryNode, NodeInclusion, type SpreadConstraint, spreadQuery } from './spread-constraint.ts';

const HOSTNAME = 'kubernetes.io/hostname';

export interface SpreadScoring {
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes without one of the keys get no score. */
  readonly requireAllKeys: boolean;
  readonly snapshot: Snapshot;
  /** Those that passed all filters. */
  readonly nodes: readonly NodeInfo[];
}

/** Matching pods in the domains of constraints that should hold. */
export class SpreadScoreState {
  readonly #constraints: readonly SpreadConstraint[];
  readonly #domains: readonly Map<string, number>[];
  readonly #counts: readonly PodCounts[];
  readonly #weights: readonly number[];
  readonly #ignored = new Set<NodeInfo>();

  constructor(pod: PodInfo, scoring: SpreadScoring) {
    const { constraints, requireAllKeys, snapshot, nodes } = scoring;
    this.#constraints = constraints;
    this.#counts = constraints.map((constraint) => countsFor(snapshot, pod, constraint));
    if (requireAllKeys) for (const node of nodes) if (!hasAllKeys(node, constraints)) this.#ignored.add(node);
    this.#domains = constraints.map((constraint) => this.#domainsOf(constraint, nodes));
    const hosts = nodes.length - this.#ignored.size;
    // With more domains, a pod more or less in one means less: the weight makes up for it.
    this.#weights = constraints.map(({ topologyKey }, i) => Math.log((topologyKey === HOSTNAME ? hosts : this.#domains[i]!.size) + 2));
    this.#countDomains(pod, scoring);
  }

  score(node: NodeInfo): number {
    if (this.#ignored.has(node)) return 0;
    let score = 0;
    for (let i = 0; i < this.#constraints.length; i++) {
      const { topologyKey, maxSkew } = this.#constraints[i] as SpreadConstraint;
      const domain = node.labels[topologyKey];
      if (domain === undefined) continue;
      const count = topologyKey === HOSTNAME ? this.#counts[i]?.get(node) : this.#domains[i]?.get(domain);
      score += (count ?? 0) * (this.#weights[i] as number) + (maxSkew - 1);
    }
    return Math.round(score);
  }

  /** The fewer the better; nodes without the keys come last. */
  normalize(scores: number[], nodes: readonly NodeInfo[]): void {
    let least = Number.MAX_SAFE_INTEGER;
    let most = 0;
    scores.forEach((score, i) => {
      if (this.#ignored.has(nodes[i] as NodeInfo)) return;
      least = Math.min(least, score);
      most = Math.max(most, score);
    });
    for (let i = 0; i < scores.length; i++) {
      if (this.#ignored.has(nodes[i] as NodeInfo)) scores[i] = 0;
      else scores[i] = most === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (most + least - (scores[i] as number))) / most);
    }
  }

  #domainsOf({ topologyKey }: SpreadConstraint, nodes: readonly NodeInfo[]): Map<string, number> {
    const domains = new Map<string, number>();
    if (topologyKey === HOSTNAME) return domains;
    for (const node of nodes) {
      const domain = node.labels[topologyKey];
      if (domain !== undefined && !this.#ignored.has(node)) domains.set(domain, 0);
    }
    return domains;
  }

  #countDomains(pod: PodInfo, { requireAllKeys, snapshot }: SpreadScoring): void {
    const inclusion = new NodeInclusion(pod);
    const isUniform = !requireAllKeys || this.#constraints.every(({ topologyKey }) => isOnEveryNode(topologyKey, snapshot));
    this.#constraints.forEach((constraint, i) => {
      const { topologyKey } = constraint;
      if (topologyKey === HOSTNAME) return;
      const domains = this.#domains[i] as Map<string, number>;
      if (isUniform && inclusion.includesAll(constraint)) {
        const counts = snapshot.countPodsBy(topologyKey, spreadQuery(pod.namespace, constraint));
        for (const domain of domains.keys()) domains.set(domain, counts.get(domain) ?? 0);
        return;
      }
      for (const [node, count] of this.#counts[i] as PodCounts) {
        const domain = node.labels[topologyKey];
        const known = domain === undefined ? undefined : domains.get(domain);
        if (known === undefined || (requireAllKeys && !hasAllKeys(node, this.#constraints))) continue;
        if (inclusion.includes(constraint, node)) domains.set(domain as string, known + count);
      }
    });
  }
}
