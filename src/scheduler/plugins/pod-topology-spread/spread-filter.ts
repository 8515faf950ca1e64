import type { CloneableState } from '../../framework/cycle-state.ts';
import { DomainMemo } from '../../framework/domain-memo.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { DomainCounts, Snapshot } from '../../framework/snapshot.ts';
import { type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { countsFor, hasAllKeys, isOnEveryNode, NodeInclusion, type SpreadConstraint, spreadQuery } from './spread-constraint.ts';

export const NAME = 'PodTopologySpread';
const MISMATCH = unschedulable(NAME, "node(s) didn't match pod topology spread constraints");
const NO_LABEL = unresolvable(NAME, "node(s) didn't match pod topology spread constraints (missing required label)");

/** Matching pods by domain. */
interface Domains {
  /** Every domain that counts, also those without pods. */
  readonly all: DomainCounts;
  readonly counts: DomainCounts;
  /** Changes by a simulation. */
  readonly changes: Map<string, number>;
  minimum: number | undefined;
}

/** Matching pods in each domain of each constraint that must hold. */
export class SpreadFilterState implements CloneableState {
  /** With one constraint all nodes of a domain give the same result. Not used in simulations. */
  #memo: DomainMemo | undefined;

  private constructor(
    readonly constraints: readonly SpreadConstraint[],
    private readonly domains: readonly Domains[],
    private readonly inclusion: NodeInclusion,
  ) {}

  static of(pod: PodInfo, constraints: readonly SpreadConstraint[], snapshot: Snapshot): SpreadFilterState {
    const inclusion = new NodeInclusion(pod);
    const isUniform = constraints.every(({ topologyKey }) => isOnEveryNode(topologyKey, snapshot));
    const domains = constraints.map((constraint) => {
      // Usually every node counts: then the snapshot's counts can be used.
      const counted =
        isUniform && inclusion.includesAll(constraint)
          ? shared(pod, constraint, snapshot)
          : collected(pod, constraint, { constraints, snapshot, inclusion });
      return { ...counted, changes: new Map<string, number>(), minimum: undefined };
    });
    const state = new SpreadFilterState(constraints, domains, inclusion);
    const [only] = constraints;
    if (constraints.length === 1 && only !== undefined) state.#memo = new DomainMemo(snapshot.topology(only.topologyKey));
    return state;
  }

  clone(): SpreadFilterState {
    const domains = this.domains.map((domain) => ({ ...domain, changes: new Map(domain.changes) }));
    return new SpreadFilterState(this.constraints, domains, this.inclusion);
  }

  /** A pod was added to or removed from a node. */
  change(pod: PodInfo, node: NodeInfo, { by, namespace }: { by: 1 | -1; namespace: string }): void {
    if (pod.namespace !== namespace || pod.isTerminating || !hasAllKeys(node, this.constraints)) return;
    this.constraints.forEach((constraint, i) => {
      if (!constraint.selector.matches(pod.labels) || !this.inclusion.includes(constraint, node)) return;
      const domain = node.labels[constraint.topologyKey] as string;
      const domains = this.domains[i] as Domains;
      domains.changes.set(domain, (domains.changes.get(domain) ?? 0) + by);
      domains.minimum = undefined;
    });
  }

  check(node: NodeInfo): Status | undefined {
    return this.#memo === undefined ? this.#checkNode(node) : this.#memo.check(node, this.#checkNode);
  }

  readonly #checkNode = (node: NodeInfo): Status | undefined => {
    for (let i = 0; i < this.constraints.length; i++) {
      const constraint = this.constraints[i] as SpreadConstraint;
      const domain = node.labels[constraint.topologyKey];
      if (domain === undefined) return NO_LABEL;
      const domains = this.domains[i] as Domains;
      domains.minimum ??= minimumOf(domains, constraint);
      if (matching(domains, domain) + (constraint.countsItself ? 1 : 0) - domains.minimum > constraint.maxSkew) return MISMATCH;
    }
    return undefined;
  };
}

type SharedCounts = Pick<Domains, 'all' | 'counts'>;

function shared(pod: PodInfo, constraint: SpreadConstraint, snapshot: Snapshot): SharedCounts {
  const { topologyKey } = constraint;
  return { all: snapshot.domains(topologyKey), counts: snapshot.countPodsBy(topologyKey, spreadQuery(pod.namespace, constraint)) };
}

interface Collection {
  readonly constraints: readonly SpreadConstraint[];
  readonly snapshot: Snapshot;
  readonly inclusion: NodeInclusion;
}

function collected(pod: PodInfo, constraint: SpreadConstraint, { constraints, snapshot, inclusion }: Collection): SharedCounts {
  const counts = new Map<string, number>();
  const pods = countsFor(snapshot, pod, constraint);
  for (const node of snapshot.nodes) {
    if (!hasAllKeys(node, constraints) || !inclusion.includes(constraint, node)) continue;
    const domain = node.labels[constraint.topologyKey] as string;
    counts.set(domain, (counts.get(domain) ?? 0) + (pods.get(node) ?? 0));
  }
  return { all: counts, counts };
}

function matching({ counts, changes }: Domains, domain: string): number {
  const count = counts.get(domain) ?? 0;
  return changes.size === 0 ? count : count + (changes.get(domain) ?? 0);
}

/** The count of the emptiest domain; 0 below minDomains. */
function minimumOf(domains: Domains, { minDomains }: SpreadConstraint): number {
  const { all, counts, changes } = domains;
  if (all.size < minDomains) return 0;
  // Domains without pods have no count.
  if (changes.size === 0 && counts !== all && counts.size < all.size) return 0;
  let least = Number.MAX_SAFE_INTEGER;
  for (const domain of all.keys()) least = Math.min(least, matching(domains, domain));
  return least;
}
