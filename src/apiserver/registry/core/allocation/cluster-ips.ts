import { networking } from '#api';
import { bitsOf, type Clock, formatCidr, formatIp, type IpNetwork, networkContains, parseCidr, parseIp, type Random } from '#base';
import { formatTime, StatusError } from '#machinery';
import type { KubeObject } from '../../../watch-cache/kube-object.ts';
import type { ResourceStorage } from '../../generic/resource-storage.ts';
import type { IpFamily } from './service-allocation.ts';

export interface ClusterIpDeps {
  readonly addresses: ResourceStorage;
  readonly ranges: ResourceStorage;
  readonly clock: Clock;
  readonly random: Random;
}

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** Why an address cannot be allocated. */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';
}

const TRIES = 64;

/**
 * Allocates cluster IPs. An address is taken if an IPAddress object with its name exists, which keeps servers on one store from allocating
 * it twice.
 */
export class ClusterIps {
  constructor(private readonly deps: ClusterIpDeps) {}

  /** Claims the requested address, or any free one of the family. */
  async claim(service: ServiceName, family: IpFamily, requested?: string, dryRun = false): Promise<string> {
    const networks = await this.#networks(family);
    if (requested !== undefined) return this.#claimExactly(service, { requested, networks, dryRun });
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const candidate = this.#pick(networks, attempt);
      if (candidate === undefined) continue;
      if (dryRun || (await this.#create(candidate, family, service))) return candidate;
    }
    for (const network of networks) {
      for (const candidate of this.#scan(network)) if (dryRun || (await this.#create(candidate, family, service))) return candidate;
    }
    throw new AllocationError(networks.length === 0 ? 'no ServiceCIDR available' : 'range is full');
  }

  async release(ip: string): Promise<void> {
    const { addresses } = this.deps;
    for (;;) {
      const address = await addresses.get('', ip);
      if (address === undefined || (await addresses.delete(address)) !== undefined) return;
    }
  }

  async #claimExactly(
    service: ServiceName,
    { requested, networks, dryRun }: { requested: string; networks: readonly IpNetwork[]; dryRun: boolean },
  ): Promise<string> {
    const parsed = parseIp(requested);
    const isUsable = parsed !== undefined && networks.some((network) => networkContains(network, parsed) && isAllocated(network, parsed));
    if (!isUsable) throw new AllocationError(dryRun ? outOfRange(requested, networks) : NO_RANGE);
    const ip = formatIp(parsed);
    // As upstream, a dry run does not check whether the address is free.
    if (!dryRun && !(await this.#create(ip, parsed.family === 4 ? 'IPv4' : 'IPv6', service))) {
      throw new AllocationError('provided IP is already allocated');
    }
    return ip;
  }

  async #networks(family: IpFamily): Promise<readonly IpNetwork[]> {
    const { ranges, addresses } = this.deps;
    await Promise.all([ranges.cache.fresh(), addresses.cache.fresh()]);
    const addressVersion = family === 'IPv4' ? 4 : 6;
    return [...ranges.cache.objects()]
      .map(({ object }) => object as unknown as networking.ServiceCIDR)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(({ spec }) => networksIn(spec?.cidrs))
      .filter((network) => network.family === addressVersion);
  }

  /** A random address; the lower part of the range is reserved for requested addresses. */
  #pick(networks: readonly IpNetwork[], attempt: number): string | undefined {
    if (networks.length === 0) return undefined;
    const network = networks[attempt % networks.length]!;
    const { first, size } = usable(network);
    if (size <= 0n) return undefined;
    const reserved = attempt < TRIES / 2 ? reservedFor(size) : 0n;
    const span = size - reserved;
    const offset = reserved + BigInt(Math.floor(this.deps.random.float() * Number(span > 0xffffffffn ? 0xffffffffn : span)));
    const ip = formatIp({ family: network.family, value: first + offset });
    return this.deps.addresses.cache.get(this.deps.addresses.keyOf('', ip)) === undefined ? ip : undefined;
  }

  /** Every free address of a range that is nearly full. */
  *#scan(network: IpNetwork): Iterable<string> {
    const { first, size } = usable(network);
    const { addresses } = this.deps;
    for (let offset = 0n; offset < size && offset < 0x10000n; offset++) {
      const ip = formatIp({ family: network.family, value: first + offset });
      if (addresses.cache.get(addresses.keyOf('', ip)) === undefined) yield ip;
    }
  }

  async #create(ip: string, family: IpFamily, { namespace, name }: ServiceName): Promise<boolean> {
    const { addresses, clock, random } = this.deps;
    const labels = { 'ipaddress.kubernetes.io/ip-family': family, 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };
    const metadata = { name: ip, uid: random.uuid(), creationTimestamp: formatTime(clock.now()), labels };
    const spec = { parentRef: { resource: 'services', namespace, name } };
    const object = { kind: 'IPAddress', apiVersion: 'networking.k8s.io/v1', metadata, spec } as unknown as KubeObject;
    checkValid(object);
    return (await addresses.create(addresses.keyOf('', ip), object)) !== undefined;
  }
}

/** The address is claimed before the service is validated: a service with an invalid name fails here. */
function checkValid(address: KubeObject): void {
  const errors = networking.validateIPAddress(address as unknown as networking.IPAddress);
  if (errors.length === 0) return;
  throw new AllocationError(StatusError.invalid(networking.IPAddress, address.metadata.name, errors).message);
}

/** Upstream finds the range of an address first, but checks only one of the ranges in a dry run. */
const NO_RANGE = 'the provided network does not match the current range';

function outOfRange(ip: string, networks: readonly IpNetwork[]): string {
  return `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${networks.map(formatCidr).join(', ')}`;
}

function isAllocated(network: IpNetwork, { value }: { value: bigint }): boolean {
  const { first, size } = usable(network);
  return value >= first && value < first + size;
}

/** Excludes the network address and, for IPv4, the broadcast address. */
function usable(network: IpNetwork): { first: bigint; size: bigint } {
  const total = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
  return { first: network.base + 1n, size: total - (network.family === 4 ? 2n : 1n) };
}

function reservedFor(size: bigint): bigint {
  const share = size / 16n;
  if (size < 16n) return 0n;
  return share < 16n ? 16n : share > 256n ? 256n : share;
}

/** Malformed ranges have no addresses, and do not affect others. */
function networksIn(cidrs: unknown): readonly IpNetwork[] {
  if (!Array.isArray(cidrs)) return [];
  return cidrs.flatMap((cidr: unknown) => (typeof cidr === 'string' ? parseCidr(cidr) : undefined) ?? []);
}
