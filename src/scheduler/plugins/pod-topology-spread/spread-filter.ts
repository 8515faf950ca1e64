import type { CloneableState } from '../../framework/cycle-state.ts';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { Snapshot } from '../../framework/snapshot.ts';
import { type Status, unresolvable, unschedulable } from '../../framework/status.ts';
import { countsFor, hasAllKeys, NodeInclusion, type SpreadConstraint } from './spread-constraint.ts';

export const NAME = 'PodTopologySpread';
const MISMATCH = unschedulable(NAME, "node(s) didn't match pod topology spread constraints");
const NO_LABEL = unresolvable(NAME, "node(s) didn't match pod topology spread constraints (missing required label)");

/** Matching pods in each domain of each constraint that must hold. */
export class SpreadFilterState implements CloneableState {
  private constructor(
    readonly constraints: readonly SpreadConstraint[],
    private readonly domains: readonly Map<string, number>[],
    private readonly inclusion: NodeInclusion,
  ) {}

  private readonly minimums: (number | undefined)[] = [];

  static of(pod: PodInfo, constraints: readonly SpreadConstraint[], snapshot: Snapshot): SpreadFilterState {
    const inclusion = new NodeInclusion(pod);
    const domains = constraints.map(() => new Map<string, number>());
    const counts = constraints.map((constraint) => countsFor(snapshot, pod, constraint));
    for (const node of snapshot.nodes) {
      if (!hasAllKeys(node, constraints)) continue;
      constraints.forEach((constraint, i) => {
        if (!inclusion.includes(constraint, node)) return;
        const domain = node.labels[constraint.topologyKey] as string;
        const known = domains[i] as Map<string, number>;
        known.set(domain, (known.get(domain) ?? 0) + (counts[i]?.get(node) ?? 0));
      });
    }
    return new SpreadFilterState(constraints, domains, inclusion);
  }

  clone(): SpreadFilterState {
    return new SpreadFilterState(
      this.constraints,
      this.domains.map((counts) => new Map(counts)),
      this.inclusion,
    );
  }

  /** A pod came to, or went from, a node. */
  change(pod: PodInfo, node: NodeInfo, { by, namespace }: { by: 1 | -1; namespace: string }): void {
    if (pod.namespace !== namespace || pod.isTerminating || !hasAllKeys(node, this.constraints)) return;
    this.constraints.forEach((constraint, i) => {
      if (!constraint.selector.matches(pod.labels) || !this.inclusion.includes(constraint, node)) return;
      const domain = node.labels[constraint.topologyKey] as string;
      const counts = this.domains[i] as Map<string, number>;
      counts.set(domain, (counts.get(domain) ?? 0) + by);
      this.minimums[i] = undefined;
    });
  }

  check(node: NodeInfo): Status | undefined {
    for (let i = 0; i < this.constraints.length; i++) {
      const { topologyKey, countsItself, maxSkew } = this.constraints[i] as SpreadConstraint;
      const domain = node.labels[topologyKey];
      if (domain === undefined) return NO_LABEL;
      const matching = this.domains[i]?.get(domain) ?? 0;
      if (matching + (countsItself ? 1 : 0) - this.minimum(i) > maxSkew) return MISMATCH;
    }
    return undefined;
  }

  /** Of the emptiest domain; 0 while there are fewer domains than demanded. */
  private minimum(i: number): number {
    const known = this.minimums[i];
    if (known !== undefined) return known;
    const counts = this.domains[i] as Map<string, number>;
    let least = Number.MAX_SAFE_INTEGER;
    for (const count of counts.values()) if (count < least) least = count;
    if (counts.size < (this.constraints[i] as SpreadConstraint).minDomains) least = 0;
    this.minimums[i] = least;
    return least;
  }
}
