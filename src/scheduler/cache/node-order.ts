import { maxOf } from '#base';
import type { NodeInfo } from '../framework/node-info.ts';

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGION_LABELS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

/** One node of each zone in turn, as upstream's node tree lists them. */
export function nodesInTurn(nodes: Iterable<NodeInfo>): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const node of nodes) {
    if (node.node === undefined) continue;
    const zone = zoneOf(node);
    const nodes = zones.get(zone);
    if (nodes === undefined) zones.set(zone, [node]);
    else nodes.push(node);
  }
  if (zones.size <= 1) return [...zones.values()].flat();
  const lists = [...zones.values()];
  const longest = maxOf(lists.map((list) => list.length));
  const ordered: NodeInfo[] = [];
  for (let i = 0; i < longest; i++) {
    for (const list of lists) if (i < list.length) ordered.push(list[i] as NodeInfo);
  }
  return ordered;
}

export function zoneOf({ labels }: Pick<NodeInfo, 'labels'>): string {
  return `${firstOf(labels, REGION_LABELS)}\0${firstOf(labels, ZONE_LABELS)}`;
}

function firstOf(labels: NodeInfo['labels'], keys: readonly string[]): string {
  for (const key of keys) {
    const value = labels[key];
    if (value !== undefined) return value;
  }
  return '';
}
