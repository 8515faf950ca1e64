import type { core } from '#api';

export type NodeCidrAction =
  | { readonly type: 'none' }
  | { readonly type: 'assign'; readonly podCidrs: readonly string[] }
  /** A range is exhausted. */
  | { readonly type: 'wait' };

export interface ObservedCidrs {
  /** Whether the node waits for a CIDR to be released. */
  readonly isWaiting: boolean;
  /** The next free CIDR of each cluster range. */
  nextFree(): readonly (string | undefined)[];
}

/** Nodes get one CIDR of each range, or none; CIDRs are never changed. */
export function reconcileNode(node: core.Node | undefined, { isWaiting, nextFree }: ObservedCidrs): NodeCidrAction {
  if (node === undefined || isWaiting || podCidrsOf(node).length > 0) return { type: 'none' };
  const podCidrs = nextFree();
  return podCidrs.every((cidr) => cidr !== undefined) ? { type: 'assign', podCidrs } : { type: 'wait' };
}

export function podCidrsOf({ spec }: core.Node): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);
}
