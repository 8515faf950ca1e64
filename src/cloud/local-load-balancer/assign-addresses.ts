import type { core } from '#api';
import { bitsOf, formatIp, type IpNetwork, networkContains, parseCidr, parseIp } from '#base';

/** The source of load balancer addresses. */
export interface AddressSource {
  /** Ranges such as 192.168.1.240/28; empty: services share the nodes' addresses. */
  readonly ranges: readonly string[];
  /** Internal addresses of nodes that accept external traffic. */
  readonly nodeAddresses: readonly string[];
  /** Whether a local program listens on the port: it must stay reachable. */
  readonly isPortInUse: (protocol: string, port: number) => boolean;
}

export type Assignment =
  | { readonly addresses: readonly string[] }
  /** The error message. */
  | { readonly problem: string };

/** The search limit per range. */
const MAX_ADDRESSES = 65_536n;

/** Assigns addresses to services. Existing assignments are kept; older services are served first. */
export function assignAddresses(services: readonly core.Service[], source: AddressSource): ReadonlyMap<core.Service, Assignment> {
  const usedAddresses = new Set<string>();
  const sorted = services.toSorted((a, b) => rank(a) - rank(b) || order(a).localeCompare(order(b)));
  return new Map(
    sorted.map((service) => [
      service,
      source.ranges.length > 0 ? fromRanges(service, source, usedAddresses) : fromNodes(service, source, usedAddresses),
    ]),
  );
}

function rank(service: core.Service): number {
  return currentAddresses(service).length > 0 ? 0 : 1;
}

function order({ metadata }: core.Service): string {
  return `${metadata?.creationTimestamp ?? ''} ${metadata?.namespace}/${metadata?.name}`;
}

export function currentAddresses({ status }: core.Service): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip).filter((ip) => ip !== undefined);
}

function familiesOf({ spec }: core.Service): readonly (4 | 6)[] {
  const families = spec?.ipFamilies ?? [];
  return families.length === 0 ? [4] : families.map((family) => (family === 'IPv6' ? 6 : 4));
}

/** One exclusive address per family of the service. */
function fromRanges(service: core.Service, { ranges }: AddressSource, usedAddresses: Set<string>): Assignment {
  const networks = ranges.map(parseCidr).filter((range) => range !== undefined);
  const requested = service.spec?.loadBalancerIP;
  const preferred = [...(requested ? [requested] : []), ...currentAddresses(service)];
  const addresses: string[] = [];
  for (const family of familiesOf(service)) {
    const ofFamily = networks.filter((network) => network.family === family);
    const address =
      preferred.find((candidate) => isFree(candidate, ofFamily, usedAddresses)) ??
      (requested ? undefined : firstFree(ofFamily, usedAddresses));
    if (address === undefined) {
      const problem = requested
        ? `the address ${requested} is not free in the ranges of load balancers`
        : `no address of IPv${family} is free in the ranges of load balancers`;
      return { problem };
    }
    addresses.push(address);
  }
  for (const address of addresses) usedAddresses.add(address);
  return { addresses };
}

function isFree(text: string, networks: readonly IpNetwork[], usedAddresses: ReadonlySet<string>): boolean {
  const address = parseIp(text);
  return address !== undefined && !usedAddresses.has(text) && networks.some((network) => networkContains(network, address));
}

function firstFree(networks: readonly IpNetwork[], usedAddresses: ReadonlySet<string>): string | undefined {
  for (const network of networks) {
    const size = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
    const last = size < MAX_ADDRESSES ? size : MAX_ADDRESSES;
    for (let offset = 0n; offset < last; offset++) {
      const address = formatIp({ family: network.family, value: network.base + offset });
      if (!usedAddresses.has(address)) return address;
    }
  }
  return undefined;
}

/** The nodes' addresses, if no other service or program uses the ports. */
function fromNodes(service: core.Service, { nodeAddresses, isPortInUse }: AddressSource, usedAddresses: Set<string>): Assignment {
  const families = familiesOf(service);
  const addresses = nodeAddresses.filter((address) => families.includes(address.includes(':') ? 6 : 4));
  if (addresses.length === 0) return { problem: 'no node has an address of the families of the service' };
  const ports = (service.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => ({ port, protocol: protocol ?? 'TCP' }));
  for (const { port, protocol } of ports) {
    if (usedAddresses.has(`${protocol} ${port}`))
      return {
        problem: `port ${port}/${protocol} of the node is taken by another load balancer; set --load-balancer-range to give services addresses of their own`,
      };
    if (isPortInUse(protocol, port))
      return {
        problem: `port ${port}/${protocol} of the node is in use by a program of the machine; set --load-balancer-range to give services addresses of their own`,
      };
  }
  for (const { port, protocol } of ports) usedAddresses.add(`${protocol} ${port}`);
  return { addresses };
}
