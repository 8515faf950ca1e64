import type { NodeInfo } from '../../framework/node-info.ts';
import { MAX_SCORE } from '../../framework/normalize-scores.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { PodCounts, Snapshot, Topology } from '../../framework/snapshot.ts';
import { countsFor, hasAllKeys, isOnEveryNode, NodeInclusion, type SpreadConstraint, spreadQuery } from './spread-constraint.ts';

const HOSTNAME = 'kubernetes.io/hostname';

export interface SpreadScoreOptions {
  readonly constraints: readonly SpreadConstraint[];
  /** Nodes without one of the keys get no score. */
  readonly requireAllKeys: boolean;
  readonly snapshot: Snapshot;
  /** Those that passed all filters. */
  readonly nodes: readonly NodeInfo[];
}

/** A constraint with what is counted for it. */
interface ConstraintCounts {
  readonly constraint: SpreadConstraint;
  readonly topology: Topology;
  /** Matching pods on each node. */
  readonly byNode: PodCounts;
  /** Matching pods in each domain that has a node to choose, undefined for others; not used for host names, where each node is its own. */
  readonly byDomain: (number | undefined)[];
  readonly isByHost: boolean;
  weight: number;
}

/** Matching pods in the domains of constraints that should hold. */
export class SpreadScoreState {
  readonly #counted: readonly ConstraintCounts[];
  /** Undefined when no node is. */
  readonly #ignored: ReadonlySet<NodeInfo> | undefined;

  constructor(pod: PodInfo, scoring: SpreadScoreOptions) {
    const { constraints, requireAllKeys, nodes } = scoring;
    const ignored = requireAllKeys ? nodes.filter((node) => !hasAllKeys(node, constraints)) : [];
    this.#ignored = ignored.length === 0 ? undefined : new Set(ignored);
    this.#counted = constraints.map((constraint) => this.#count(pod, constraint, scoring));
    this.#countDomains(pod, scoring);
    const hosts = nodes.length - ignored.length;
    for (const counted of this.#counted) {
      const domains = counted.isByHost ? hosts : counted.byDomain.filter((count) => count !== undefined).length;
      // With more domains, one pod more or less matters less: the weight compensates.
      counted.weight = Math.log(domains + 2);
    }
  }

  score(node: NodeInfo): number {
    if (this.#ignored?.has(node)) return 0;
    let score = 0;
    for (let i = 0; i < this.#counted.length; i++) {
      const { constraint, topology, byNode, byDomain, isByHost, weight } = this.#counted[i] as ConstraintCounts;
      const domain = topology.domainAt[node.place] as number;
      if (domain < 0) continue;
      const count = isByHost ? byNode.get(node) : byDomain[domain];
      score += (count ?? 0) * weight + (constraint.maxSkew - 1);
    }
    return Math.round(score);
  }

  /** The fewer the better; nodes without the keys come last. */
  normalize(scores: Float64Array, nodes: readonly NodeInfo[]): void {
    const ignored = this.#ignored;
    let least = Number.MAX_SAFE_INTEGER;
    let most = 0;
    for (let i = 0; i < scores.length; i++) {
      if (ignored?.has(nodes[i] as NodeInfo)) continue;
      least = Math.min(least, scores[i] as number);
      most = Math.max(most, scores[i] as number);
    }
    for (let i = 0; i < scores.length; i++) {
      if (ignored?.has(nodes[i] as NodeInfo)) scores[i] = 0;
      else scores[i] = most === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (most + least - (scores[i] as number))) / most);
    }
  }

  #count(pod: PodInfo, constraint: SpreadConstraint, { snapshot, nodes }: SpreadScoreOptions): ConstraintCounts {
    const topology = snapshot.topology(constraint.topologyKey);
    const isByHost = constraint.topologyKey === HOSTNAME;
    const byDomain: (number | undefined)[] = [];
    if (!isByHost) {
      for (const _ of topology.values) byDomain.push(undefined);
      for (const node of nodes) {
        const domain = topology.domainAt[node.place] as number;
        if (domain >= 0 && !this.#ignored?.has(node)) byDomain[domain] = 0;
      }
    }
    return { constraint, topology, byNode: countsFor(snapshot, pod, constraint), byDomain, isByHost, weight: 0 };
  }

  #countDomains(pod: PodInfo, { constraints, requireAllKeys, snapshot }: SpreadScoreOptions): void {
    const inclusion = new NodeInclusion(pod);
    const isUniform = !requireAllKeys || constraints.every(({ topologyKey }) => isOnEveryNode(topologyKey, snapshot));
    for (const { constraint, topology, byNode, byDomain, isByHost } of this.#counted) {
      if (isByHost) continue;
      if (isUniform && inclusion.includesAll(constraint)) {
        const counts = snapshot.countPodsBy(constraint.topologyKey, spreadQuery(pod.namespace, constraint));
        byDomain.forEach((count, domain) => {
          if (count !== undefined) byDomain[domain] = counts.get(topology.values[domain] as string) ?? 0;
        });
        continue;
      }
      for (const [node, count] of byNode) {
        // Pods are also on nodes that are no longer there.
        const domain = node.place < 0 ? -1 : (topology.domainAt[node.place] as number);
        const domainCount = domain < 0 ? undefined : byDomain[domain];
        if (domainCount === undefined || (requireAllKeys && !hasAllKeys(node, constraints))) continue;
        if (inclusion.includes(constraint, node)) byDomain[domain] = domainCount + count;
      }
    }
  }
}
