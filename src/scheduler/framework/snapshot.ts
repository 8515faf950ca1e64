import type { AffinityTerm, NamespaceLabels } from './affinity-term.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** How many pods that match something are on each node; nodes without any are absent. */
export type PodCounts = ReadonlyMap<NodeInfo, number>;

/** How many such pods are in each domain of a topology; domains without any are absent. */
export type DomainCounts = ReadonlyMap<string, number>;

/** Which domain of a topology each node is in, as numbers: what is asked of hundreds of nodes for every pod is looked up once a domain. */
export interface Topology {
  /** The value of the label in each domain. */
  readonly values: readonly string[];
  /** By the place of the node: the place of its domain among `values`; -1 when it has none. */
  readonly domainAt: Int32Array;
}

/** Names what pods to count. Equal ids count the same pods. */
export interface PodQuery {
  readonly id: string;
  /** Only pods of this namespace match; undefined: of any. */
  readonly namespace: string | undefined;
  matches(pod: PodInfo, namespaces: NamespaceLabels): boolean;
}

export type TermKind = 'requiredAntiAffinity' | 'requiredAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';

/** A term that some pods of the cluster have, with where they are. */
export interface PlacedTerm {
  readonly term: AffinityTerm;
  /** 1 for required terms; else the weight. */
  readonly weight: number;
  /** How many pods with this term are in each domain of its topology. */
  readonly domains: DomainCounts;
}

/** The cluster as one scheduling cycle sees it: nothing of it changes before the cycle ends. */
export interface Snapshot {
  /** Zone by zone in turn, so that looking at some of them looks at all zones. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Counted once and then kept current, for as long as it is asked for. */
  countPods(query: PodQuery): PodCounts;
  /** The same, summed by the value of a label of the nodes. */
  countPodsBy(topologyKey: string, query: PodQuery): DomainCounts;
  /** How many nodes each value of a label has. */
  domains(topologyKey: string): DomainCounts;
  /** The domains of all nodes by the value of a label. */
  topology(topologyKey: string): Topology;
  /** The distinct terms of one kind that pods on nodes have. */
  placedTerms(kind: TermKind): Iterable<PlacedTerm>;
  /** On how many nodes an image is. */
  nodesWithImage(name: string): number;
  /** How many nodes only the pods that have no other choice should go to. */
  readonly avoidedNodes: number;
  /** Changes whenever a node gets another place among `nodes`. */
  readonly placesVersion: number;
  /** Of each of `nodes`: changes with anything of it, its pods included. Never 0. Begins anew when `placesVersion` changes. */
  readonly nodeVersions: Uint32Array;
}
