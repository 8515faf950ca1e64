import { core } from '#api';
import { type LabelSelectorObject, type Labels, lenientSelector, Selector } from '#machinery';
import type { NodeInfo } from '../../framework/node-info.ts';
import type { ClusterObjects } from '../../framework/plugin.ts';
import type { PodInfo } from '../../framework/pod-info.ts';
import type { PodCounts, PodQuery, Snapshot } from '../../framework/snapshot.ts';
import { findUntolerated, keepsPodsAway } from '../../framework/tolerations.ts';

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: Selector;
  /** Equal for selectors that select the same. */
  readonly selectorId: string;
  readonly honorsNodeAffinity: boolean;
  readonly honorsTaints: boolean;
  /** Whether the pod counts among those that it is spread with. */
  readonly countsItself: boolean;
}

type WhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

export function ownConstraints(pod: PodInfo, when: WhenUnsatisfiable): readonly SpreadConstraint[] {
  const constraints = pod.pod.spec?.topologySpreadConstraints;
  if (constraints === undefined || constraints.length === 0) return [];
  return constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when).map((constraint) => compile(constraint, pod));
}

function compile(constraint: core.TopologySpreadConstraint, { labels }: PodInfo): SpreadConstraint {
  const { matchLabelKeys, labelSelector } = constraint;
  const selected = lenientSelector(labelSelector as LabelSelectorObject | undefined);
  const equal = (matchLabelKeys ?? []).filter((key) => labels[key] !== undefined);
  const selector = selected.add(equal.map((key) => ({ key, operator: 'in' as const, values: [labels[key] as string] })));
  return constraintOf(constraint, selector, labels);
}

function constraintOf(constraint: core.TopologySpreadConstraint, selector: Selector, labels: Labels): SpreadConstraint {
  return {
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selector,
    selectorId: selector.matchesNothing ? '!' : selector.toString(),
    honorsNodeAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: (constraint.nodeTaintsPolicy ?? 'Ignore') === 'Honor',
    countsItself: selector.matches(labels),
  };
}

/** The configured default constraints, with the selectors of the pod's services and controller. */
export function defaultConstraints(
  pod: PodInfo,
  when: WhenUnsatisfiable,
  { defaults, objects }: { defaults: readonly core.TopologySpreadConstraint[]; objects: ClusterObjects },
): readonly SpreadConstraint[] {
  const matching = defaults.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when);
  if (matching.length === 0) return [];
  const selector = siblingSelector(pod, objects);
  return selector.isEmpty ? [] : matching.map((constraint) => constraintOf(constraint, selector, pod.labels));
}

function siblingSelector({ pod, namespace, labels }: PodInfo, objects: ClusterObjects): Selector {
  const merged: Record<string, string> = {};
  for (const { spec } of objects.services.list(namespace)) {
    const selector = (spec?.selector ?? {}) as Labels;
    const entries = Object.entries(selector);
    if (entries.length > 0 && entries.every(([key, value]) => labels[key] === value)) Object.assign(merged, selector);
  }
  const owner = objects.ownerSelector(pod);
  const selector = Selector.fromLabels(merged);
  return owner === undefined ? selector : selector.add(lenientSelector(owner).requirements);
}

/** Pods of the namespace that a constraint counts. Terminating pods do not count. */
export function spreadQuery(namespace: string, { selector, selectorId }: SpreadConstraint): PodQuery {
  return {
    id: `spread ${namespace} ${selectorId}`,
    namespace,
    matches: (pod) => !pod.isTerminating && selector.matches(pod.labels),
  };
}

/** The nodes whose pods and domains count for a constraint of the pod. */
export class NodeInclusion {
  readonly #pod: PodInfo;
  readonly #affinity: core.NodeMatcher | undefined;

  constructor(pod: PodInfo) {
    this.#pod = pod;
    this.#affinity = core.requiredNodeAffinity(pod.pod);
  }

  /** Whether no node is left out for this constraint. */
  includesAll({ honorsNodeAffinity, honorsTaints }: SpreadConstraint): boolean {
    return !honorsTaints && (!honorsNodeAffinity || this.#affinity === undefined);
  }

  includes({ honorsNodeAffinity, honorsTaints }: SpreadConstraint, node: NodeInfo): boolean {
    if (honorsNodeAffinity && this.#affinity !== undefined && !this.#affinity.matches(node)) return false;
    return !honorsTaints || node.taints.length === 0 || findUntolerated(node.taints, this.#pod.tolerations, keepsPodsAway) === undefined;
  }
}

export function hasAllKeys({ labels }: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  for (const { topologyKey } of constraints) if (labels[topologyKey] === undefined) return false;
  return true;
}

export function isOnEveryNode(topologyKey: string, snapshot: Snapshot): boolean {
  let nodes = 0;
  const domains = snapshot.domains(topologyKey);
  // A hostname domain usually has one node: no summing needed.
  if (domains.size === snapshot.nodes.length) return true;
  for (const count of domains.values()) nodes += count;
  return nodes === snapshot.nodes.length;
}

export function countsFor(snapshot: Snapshot, pod: PodInfo, constraint: SpreadConstraint): PodCounts {
  return snapshot.countPods(spreadQuery(pod.namespace, constraint));
}
