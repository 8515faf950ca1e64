import type { core } from '#api';
import { type Labels, semanticEqual } from '#machinery';
import type { NamespaceLabels } from '../framework/affinity-term.ts';
import { type NodeFacts, NodeInfo, readNode } from '../framework/node-info.ts';
import { PodInfo } from '../framework/pod-info.ts';
import { QuantityReader } from '../framework/pod-resources.ts';
import type { DomainCounts, PlacedTerm, PodCounts, PodQuery, Snapshot, TermKind, Topology } from '../framework/snapshot.ts';
import { avoidsPods } from '../framework/tolerations.ts';
import { nodesInTurn, zoneOf } from './node-order.ts';
import { PlacedTermIndex } from './placed-term-index.ts';
import { PodCountIndex } from './pod-count-index.ts';

interface PlacedPod {
  readonly info: PodInfo;
  readonly node: NodeInfo;
  /** Assumed: placed, but not yet confirmed by the API server. */
  isAssumed: boolean;
}

/**
 * Nodes and their pods, including assumed ones. Scheduling a pod takes one turn of the event loop, and
 * nothing else changes the cache meanwhile: the cache itself is the snapshot, without a copy.
 */
export class SchedulerCache implements Snapshot {
  readonly quantities = new QuantityReader();
  readonly #nodes = new Map<string, NodeInfo>();
  readonly #pods = new Map<string, PlacedPod>();
  readonly #counts: PodCountIndex;
  readonly #terms = new PlacedTermIndex();
  readonly #imageNodes = new Map<string, number>();
  readonly #domains = new Map<string, Map<string, number>>();
  readonly #topologies = new Map<string, Topology>();
  #ordered: readonly NodeInfo[] | undefined;
  #versions = new Uint32Array(0);
  #placesVersion = 0;
  #avoidedNodes = 0;

  constructor(namespaces: NamespaceLabels) {
    this.#counts = new PodCountIndex(namespaces);
  }

  get nodes(): readonly NodeInfo[] {
    return this.#ordered ?? this.#order();
  }

  get nodeVersions(): Uint32Array {
    if (this.#ordered === undefined) this.#order();
    return this.#versions;
  }

  get avoidedNodes(): number {
    return this.#avoidedNodes;
  }

  get placesVersion(): number {
    return this.#placesVersion;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  get assumedPodCount(): number {
    let count = 0;
    for (const { isAssumed } of this.#pods.values()) if (isAssumed) count++;
    return count;
  }

  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name);
    return info?.node === undefined ? undefined : info;
  }

  countPods(query: PodQuery): PodCounts {
    return this.#counts.counts(query, this.#nodes.values());
  }

  countPodsBy(topologyKey: string, query: PodQuery): DomainCounts {
    return this.#counts.domains(topologyKey, query, this.#nodes.values());
  }

  domains(topologyKey: string): DomainCounts {
    let domains = this.#domains.get(topologyKey);
    if (domains === undefined) {
      domains = new Map();
      for (const { labels } of this.nodes) {
        const domain = labels[topologyKey];
        if (domain !== undefined) domains.set(domain, (domains.get(domain) ?? 0) + 1);
      }
      this.#domains.set(topologyKey, domains);
    }
    return domains;
  }

  topology(topologyKey: string): Topology {
    let topology = this.#topologies.get(topologyKey);
    if (topology === undefined) {
      topology = topologyOf(this.nodes, topologyKey);
      this.#topologies.set(topologyKey, topology);
    }
    return topology;
  }

  placedTerms(kind: TermKind): Iterable<PlacedTerm> {
    return this.#terms.terms(kind);
  }

  nodesWithImage(name: string): number {
    return this.#imageNodes.get(name) ?? 0;
  }

  podInfo(pod: core.Pod): PodInfo {
    return new PodInfo(pod, this.quantities);
  }

  /** Throws on a malformed node, which is then not schedulable. */
  setNode(node: core.Node): void {
    const facts = this.#read(node);
    const info = this.#nodeFor(node.metadata.name);
    const before = { node: info.node, labels: info.labels, taints: info.taints };
    this.#countImages(info, -1);
    this.#relabel(info, node.metadata.labels as Labels | undefined, () => info.setNode(facts));
    this.#countImages(info, 1);
    this.#avoidedNodes += Number(isAvoided(info)) - Number(before.taints.some(avoidsPods));
    this.#touch(info);
    if (before.node !== undefined && semanticEqual(before.labels, info.labels)) return;
    this.#relabelled();
    if (before.node === undefined || zoneOf(before) !== zoneOf(info)) this.#reorder();
  }

  #read(node: core.Node): NodeFacts {
    try {
      return readNode(node, this.quantities);
    } catch (error) {
      this.removeNode(node.metadata.name);
      throw error;
    }
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (info === undefined) return;
    this.#countImages(info, -1);
    this.#avoidedNodes -= Number(isAvoided(info));
    this.#relabel(info, undefined, () => info.clearNode());
    info.place = -1;
    // Deletion events for its pods follow one by one; keep them until then.
    if (info.pods.size === 0) this.#nodes.delete(name);
    this.#relabelled();
    this.#reorder();
  }

  isAssumed(uid: string): boolean {
    return this.#pods.get(uid)?.isAssumed === true;
  }

  nodeOf(uid: string): NodeInfo | undefined {
    return this.#pods.get(uid)?.node;
  }

  assume(info: PodInfo, node: NodeInfo): void {
    this.#place(info, node, true);
  }

  /** Reverts `assume`. */
  forget(info: PodInfo): void {
    if (this.isAssumed(info.uid)) this.#remove(info.uid);
  }

  /** A pod that the server shows on a node. */
  setPod(pod: core.Pod): void {
    const existing = this.#pods.get(pod.metadata.uid ?? '');
    const nodeName = pod.spec?.nodeName ?? '';
    if (existing !== undefined && existing.node.name === nodeName) {
      existing.isAssumed = false;
      if (hasSameFootprint(existing.info.pod, pod)) {
        existing.info.pod = pod;
        return;
      }
    }
    const info = this.podInfo(pod);
    if (existing !== undefined) this.#remove(info.uid);
    this.#place(info, this.#nodeFor(nodeName), false);
  }

  removePod(pod: core.Pod): void {
    this.#remove(pod.metadata.uid ?? '');
  }

  namespacesChanged(): void {
    this.#counts.namespacesChanged();
  }

  #nodeFor(name: string): NodeInfo {
    let info = this.#nodes.get(name);
    if (info === undefined) {
      info = new NodeInfo(name);
      this.#nodes.set(name, info);
    }
    return info;
  }

  #place(info: PodInfo, node: NodeInfo, isAssumed: boolean): void {
    this.#pods.set(info.uid, { info, node, isAssumed });
    node.addPod(info);
    this.#touch(node);
    this.#count(info, node);
  }

  #remove(uid: string): void {
    const existing = this.#pods.get(uid);
    if (existing === undefined) return;
    const { info, node } = existing;
    this.#pods.delete(uid);
    node.removePod(info);
    this.#touch(node);
    this.#uncount(info, node);
    if (node.node === undefined && node.pods.size === 0) this.#nodes.delete(node.name);
  }

  /** Indexes are keyed by node labels: a label change re-counts the pods of the node. */
  #relabel(info: NodeInfo, labels: Labels | undefined, change: () => void): void {
    const isSame = info.pods.size === 0 || semanticEqual(info.labels, labels ?? {});
    if (!isSame) for (const pod of info.pods.values()) this.#uncount(pod, info);
    change();
    if (!isSame) for (const pod of info.pods.values()) this.#count(pod, info);
  }

  #count(info: PodInfo, node: NodeInfo): void {
    this.#counts.podAdded(info, node);
    this.#terms.podAdded(info, node);
  }

  #uncount(info: PodInfo, node: NodeInfo): void {
    this.#counts.podRemoved(info, node);
    this.#terms.podRemoved(info, node);
  }

  #countImages({ images }: NodeInfo, by: 1 | -1): void {
    for (const name of images.keys()) {
      const count = (this.#imageNodes.get(name) ?? 0) + by;
      if (count > 0) this.#imageNodes.set(name, count);
      else this.#imageNodes.delete(name);
    }
  }

  #order(): readonly NodeInfo[] {
    const ordered = nodesInTurn(this.#nodes.values());
    for (let i = 0; i < ordered.length; i++) (ordered[i] as NodeInfo).place = i;
    this.#versions = new Uint32Array(ordered.length).fill(1);
    this.#ordered = ordered;
    return ordered;
  }

  #touch({ place }: NodeInfo): void {
    if (this.#ordered === undefined || place < 0) return;
    // Never 0, even after an overflow.
    this.#versions[place] = ((this.#versions[place] as number) + 1) >>> 0 || 1;
  }

  #relabelled(): void {
    this.#domains.clear();
    this.#topologies.clear();
  }

  #reorder(): void {
    this.#ordered = undefined;
    this.#placesVersion++;
  }
}

function topologyOf(nodes: readonly NodeInfo[], topologyKey: string): Topology {
  const values: string[] = [];
  const places = new Map<string, number>();
  const domainAt = new Int32Array(nodes.length).fill(-1);
  nodes.forEach(({ labels }, place) => {
    const value = labels[topologyKey];
    if (value === undefined) return;
    const domain = places.get(value) ?? values.push(value) - 1;
    places.set(value, domain);
    domainAt[place] = domain;
  });
  return { values, domainAt };
}

function isAvoided({ taints }: NodeInfo): boolean {
  return taints.some(avoidsPods);
}

/** Most updates of a pod change its status or set its node: derived values stay valid then. */
function hasSameFootprint(before: core.Pod, after: core.Pod): boolean {
  return (
    (before.metadata.deletionTimestamp == null) === (after.metadata.deletionTimestamp == null) &&
    !hasSizes(before) &&
    !hasSizes(after) &&
    semanticEqual(before.metadata.labels, after.metadata.labels) &&
    (isSameGeneration(before, after) || haveSameFootprint(before.spec, after.spec))
  );
}

/** The generation, where pods have one, changes with the spec, and so with the node. */
function isSameGeneration(before: core.Pod, after: core.Pod): boolean {
  return after.metadata.generation != null && before.metadata.generation === after.metadata.generation;
}

/** All inputs of a PodInfo. */
const FOOTPRINT = ['containers', 'initContainers', 'volumes', 'affinity', 'overhead', 'resources', 'priority'] as const;

function haveSameFootprint(before: core.PodSpec | undefined, after: core.PodSpec | undefined): boolean {
  return FOOTPRINT.every((field) => before?.[field] === after?.[field] || semanticEqual(before?.[field] as never, after?.[field] as never));
}

function hasSizes({ status }: core.Pod): boolean {
  const isSized = ({ resources }: core.ContainerStatus) => resources != null;
  return (
    status?.resources != null || (status?.containerStatuses ?? []).some(isSized) || (status?.initContainerStatuses ?? []).some(isSized)
  );
}
