import type { networking } from '#api';
import { networkContains, parseCidr, parseIp } from '#base';
import { parseTime } from '#machinery';

type ServiceCidr = networking.ServiceCIDR;

export const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';

/** The next action for a ServiceCIDR. */
export type CidrAction =
  | { readonly type: 'add finalizer' }
  | { readonly type: 'remove finalizer' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'set condition'; readonly condition: CidrCondition };

export interface CidrCondition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const READY: CidrCondition = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const IN_USE: CidrCondition = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

/** Until every API server has observed the deletion, one of them may still allocate an address from the range. */
const GRACE_MS = 10_000;

/** The other ServiceCIDRs and the allocated addresses. */
export interface ObservedCidrs {
  readonly others: readonly ServiceCidr[];
  /** The allocated addresses. */
  readonly addresses: readonly string[];
  readonly now: number;
}

/** A ServiceCIDR is protected while it has addresses that no other range contains. */
export function reconcileServiceCidr(cidr: ServiceCidr, world: ObservedCidrs): CidrAction | undefined {
  const { finalizers, deletionTimestamp } = cidr.metadata;
  const isProtected = finalizers?.includes(FINALIZER) === true;
  if (deletionTimestamp === undefined) return isProtected ? conditionUnlessSet(cidr, READY) : { type: 'add finalizer' };
  if (!isProtected) return undefined;
  if (isNeeded(cidr, world)) return conditionUnlessSet(cidr, IN_USE);
  const ms = parseTime(deletionTimestamp) + GRACE_MS - world.now;
  return ms > 0 ? { type: 'wait', ms } : { type: 'remove finalizer' };
}

function conditionUnlessSet({ status }: ServiceCidr, condition: CidrCondition): CidrAction | undefined {
  const now = status?.conditions?.find(({ type }) => type === condition.type);
  const isSet =
    now !== undefined && now.status === condition.status && now.reason === condition.reason && now.message === condition.message;
  return isSet ? undefined : { type: 'set condition', condition };
}

function isNeeded(cidr: ServiceCidr, { others, addresses }: ObservedCidrs): boolean {
  const living = others.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return addresses.some((address) => contains(cidr, address) && !living.some((other) => contains(other, address)));
}

function contains({ spec }: ServiceCidr, address: string): boolean {
  const ip = parseIp(address);
  return (
    ip !== undefined &&
    (spec?.cidrs ?? []).some((text) => {
      const network = parseCidr(text);
      return network !== undefined && networkContains(network, ip);
    })
  );
}
