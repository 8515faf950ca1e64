import { core } from '#api';
import type { Controller, ControllerContext } from '../runtime/controller.ts';
import { isGone, KeyedController } from '../runtime/keyed-controller.ts';
import { CidrSet } from './cidr-set.ts';
import { podCidrsOf, reconcileNode } from './reconcile.ts';

/** Allocates a pod CIDR for each node. */
export const nodeIpamController: Controller = {
  name: 'node-ipam-controller',
  aliases: ['nodeipam'],
  enabledByDefault: true,
  start(context) {
    const { clusterCidrs = [], allocateNodeCidrs = true } = context.options;
    return allocateNodeCidrs && clusterCidrs.length > 0 ? startAllocator(context, setsOf(context)) : undefined;
  },
};

function setsOf({ options }: ControllerContext): readonly CidrSet[] {
  const { clusterCidrs = [], nodeCidrMaskSizeIpv4, nodeCidrMaskSizeIpv6, serviceClusterIpRanges = [] } = options;
  const sets = clusterCidrs.map((cidr) => new CidrSet(cidr, cidr.includes(':') ? nodeCidrMaskSizeIpv6 : nodeCidrMaskSizeIpv4));
  for (const set of sets) for (const range of serviceClusterIpRanges) set.occupy(range);
  return sets;
}

function startAllocator(context: ControllerContext, sets: readonly CidrSet[]): KeyedController {
  const { informers, client } = context;
  const events = context.recorder('cidrAllocator');
  const nodes = informers.of(core.Node);
  const forEachCidr = (node: core.Node, act: (set: CidrSet, cidr: string) => void) =>
    podCidrsOf(node).forEach((cidr) => {
      for (const set of sets) act(set, cidr);
    });
  /** Nodes without a free CIDR: retried only when another node is deleted. */
  const waiting = new Set<string>();
  const nextFree = () => sets.map((set) => set.nextFree());
  const assign = async (name: string, podCIDRs: readonly string[]): Promise<void> => {
    podCIDRs.forEach((cidr, i) => {
      sets[i]!.allocate(cidr);
    });
    try {
      await client.of(core.Node).patch({ name }, { spec: { podCIDR: podCIDRs[0], podCIDRs } }, { type: 'strategic' });
    } catch (error) {
      for (const cidr of podCIDRs) for (const set of sets) set.release(cidr);
      throw error;
    }
  };
  const sync = async (name: string): Promise<void> => {
    const node = nodes.lister.get({ name });
    const action = reconcileNode(node, { isWaiting: waiting.has(name), nextFree });
    if (action.type === 'assign') await assign(name, action.podCidrs);
    if (action.type !== 'wait') return;
    const { uid = '' } = node?.metadata ?? {};
    events.normal({ apiVersion: 'v1', kind: 'Node', name, uid }, 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`);
    context.logger.warn('no pod CIDR is left for a node; it gets one when another node is deleted', { node: name });
    waiting.add(name);
  };
  // One worker: allocations must not compete for the same CIDR.
  const controller = new KeyedController(context, { name: 'node_ipam', isExpected: isGone, objects: nodes.lister, sync });
  nodes.addHandler({
    add: (node) => {
      forEachCidr(node, (set, cidr) => set.occupy(cidr));
      controller.enqueue(node);
    },
    update: (_, node) => {
      forEachCidr(node, (set, cidr) => set.occupy(cidr));
      controller.enqueue(node);
    },
    delete: (node) => {
      forEachCidr(node, (set, cidr) => set.release(cidr));
      waiting.delete(node.metadata.name);
      const [next] = waiting;
      if (next === undefined || podCidrsOf(node).length === 0) return;
      waiting.delete(next);
      controller.enqueue({ metadata: { name: next } });
    },
  });
  return controller;
}
