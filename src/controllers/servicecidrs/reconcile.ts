import type { networking } from '#api';
import { networkContains, parseCidr, parseIp } from '#base';

type ServiceCidr = networking.ServiceCIDR;

export const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';

/** What is to be done next about a range of service addresses. */
export type CidrAction =
  | { readonly type: 'add finalizer' }
  | { readonly type: 'remove finalizer' }
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

/** A range stays for as long as addresses of it are in use that no other range has. */
export function reconcileServiceCidr(
  cidr: ServiceCidr,
  others: readonly ServiceCidr[],
  addresses: readonly string[],
): CidrAction | undefined {
  const isProtected = cidr.metadata.finalizers?.includes(FINALIZER) === true;
  if (cidr.metadata.deletionTimestamp === undefined) return isProtected ? conditionUnlessSet(cidr, READY) : { type: 'add finalizer' };
  if (!isProtected) return undefined;
  return isNeeded(cidr, others, addresses) ? conditionUnlessSet(cidr, IN_USE) : { type: 'remove finalizer' };
}

function conditionUnlessSet({ status }: ServiceCidr, condition: CidrCondition): CidrAction | undefined {
  const now = status?.conditions?.find(({ type }) => type === condition.type);
  const isSet =
    now !== undefined && now.status === condition.status && now.reason === condition.reason && now.message === condition.message;
  return isSet ? undefined : { type: 'set condition', condition };
}

function isNeeded(cidr: ServiceCidr, others: readonly ServiceCidr[], addresses: readonly string[]): boolean {
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
