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

/** The cluster as seen by one scheduling cycle: immutable until the cycle ends. */
export interface Snapshot {
  /** Interleaved by zone, so that a sample of nodes covers all zones. */
  readonly nodes: readonly NodeInfo[];
  node(name: string): NodeInfo | undefined;
  /** Counted once and then kept up to date, as long as it is used. */
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
  /** The generation of each of `nodes`: changes with the node and its pods. Never 0. Restarts when `placesVersion` changes. */
  readonly nodeVersions: Uint32Array;
}
