import { mapField, withField } from '../../../defaulting.ts';
import { roundResources } from '../resource-list/resource-list.ts';
import type { Node, NodeSpec, NodeStatus } from './node.ts';

/** allocatable defaults to capacity. podCIDR is set to the first of podCIDRs. */
export function defaultNode(node: Node): Node {
  const status = defaultStatus(node.status ?? {});
  const withStatus = status === node.status || Object.keys(status).length === 0 ? node : withField(node, 'status', status);
  return mapField(withStatus, 'spec', syncPodCidrs);
}

function defaultStatus(status: NodeStatus): NodeStatus {
  const rounded = mapField(mapField(status, 'capacity', roundResources), 'allocatable', roundResources);
  return rounded.allocatable === undefined && rounded.capacity ? { ...rounded, allocatable: rounded.capacity } : rounded;
}

/** podCIDR and podCIDRs[0] are the same value: if only one is set or they differ, podCIDR wins. */
function syncPodCidrs(spec: NodeSpec): NodeSpec {
  const [first] = spec.podCIDRs ?? [];
  if (spec.podCIDR) return first === spec.podCIDR ? spec : { ...spec, podCIDRs: [spec.podCIDR] };
  return first ? { ...spec, podCIDR: first } : spec;
}
