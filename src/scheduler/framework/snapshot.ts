import type { AffinityTerm, NamespaceLabels } from './affinity-term.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** How many pods that match something are on each node; nodes without any are absent. */
export type PodCounts = ReadonlyMap<NodeInfo, number>;

/** How many such pods are in each domain of a topology; domains without any are absent. */
export type DomainCounts = ReadonlyMap<string, number>;

/** The topology domain of each node, as numbers: lookups that would run for hundreds of nodes per pod run once per domain. */
export interface Topology {
  /** The value of the label in each domain. */
  readonly values: readonly string[];
  /** By node index: the index of its domain in `values`; -1: none. */
  readonly domainAt: Int32Array;
}

/** Identifies the pods to count. Equal ids count the same pods. */
export interface PodQuery {
  readonly id: string;
  /** Only pods of this namespace match; undefined: of any. */
  readonly namespace: string | undefined;
  matches(pod: PodInfo, namespaces: NamespaceLabels): boolean;
}

export type TermKind = 'requiredAntiAffinity' | 'requiredAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';

/** A term of placed pods, with their locations. */
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
  /** The number of nodes that have an image. */
  nodesWithImage(name: string): number;
  /** The number of nodes with a PreferNoSchedule taint. */
  readonly avoidedNodes: number;
  /** Changes whenever the index of a node in `nodes` changes. */
  readonly placesVersion: number;
  /** The generation of each of `nodes`: changes with the node and its pods. Never 0. Restarts when `placesVersion` changes. */
  readonly nodeVersions: Uint32Array;
}
