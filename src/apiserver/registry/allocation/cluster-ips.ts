import { networking } from '#api';
import { bitsOf, type Clock, formatCidr, formatIp, type IpNetwork, networkContains, parseCidr, parseIp, type Random } from '#base';
import { formatTime, StatusError } from '#machinery';
import type { IpFamily } from '../core/service-allocation.ts';
import type { KubeObject } from '../kube-object.ts';
import type { ResourceStorage } from '../resource-storage.ts';

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

/** Why an address cannot be had. */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';
}

const TRIES = 64;

/**
 * The addresses of services. An address is taken when there is an IPAddress object of its name: that is what keeps two servers on one store
 * from giving out the same one.
 */
export class ClusterIps {
  constructor(private readonly deps: ClusterIpDeps) {}

  /** Takes the address that was asked for, or any free one of the family. */
  async claim(service: ServiceName, family: IpFamily, wanted?: string, dryRun = false): Promise<string> {
    const networks = await this.#networks(family);
    if (wanted !== undefined) return this.#claimExactly(service, { wanted, networks, dryRun });
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
      const taken = await addresses.get('', ip);
      if (taken === undefined || (await addresses.delete(taken)) !== undefined) return;
    }
  }

  async #claimExactly(
    service: ServiceName,
    { wanted, networks, dryRun }: { wanted: string; networks: readonly IpNetwork[]; dryRun: boolean },
  ): Promise<string> {
    const parsed = parseIp(wanted);
    const isUsable = parsed !== undefined && networks.some((network) => networkContains(network, parsed) && isGivenOut(network, parsed));
    if (!isUsable) throw new AllocationError(outOfRange(wanted, networks));
    const ip = formatIp(parsed);
    // As upstream, a dry run does not ask whether somebody has the address already.
    if (!dryRun && !(await this.#create(ip, parsed.family === 4 ? 'IPv4' : 'IPv6', service))) {
      throw new AllocationError('provided IP is already allocated');
    }
    return ip;
  }

  async #networks(family: IpFamily): Promise<readonly IpNetwork[]> {
    const { ranges, addresses } = this.deps;
    await Promise.all([ranges.cache.fresh(), addresses.cache.fresh()]);
    const wanted = family === 'IPv4' ? 4 : 6;
    return [...ranges.cache.objects()]
      .map(({ object }) => object as unknown as networking.ServiceCIDR)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(({ spec }) => spec?.cidrs ?? [])
      .flatMap((cidr) => parseCidr(cidr) ?? [])
      .filter((network) => network.family === wanted);
  }

  /** A random address; the lower part of a range is left to those who ask for certain addresses. */
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
    refuseInvalid(object);
    return (await addresses.create(addresses.keyOf('', ip), object)) !== undefined;
  }
}

/** The address of a service is claimed before the service is looked at: a service whose name cannot be referred to fails here. */
function refuseInvalid(address: KubeObject): void {
  const errors = networking.validateIPAddress(address as unknown as networking.IPAddress);
  if (errors.length === 0) return;
  throw new AllocationError(StatusError.invalid(networking.IPAddress, address.metadata.name, errors).message);
}

function outOfRange(ip: string, networks: readonly IpNetwork[]): string {
  return `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${networks.map(formatCidr).join(', ')}`;
}

function isGivenOut(network: IpNetwork, { value }: { value: bigint }): boolean {
  const { first, size } = usable(network);
  return value >= first && value < first + size;
}

/** Neither the network's own address nor, in IPv4, the broadcast address is given out. */
function usable(network: IpNetwork): { first: bigint; size: bigint } {
  const total = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
  return { first: network.base + 1n, size: total - (network.family === 4 ? 2n : 1n) };
}

function reservedFor(size: bigint): bigint {
  const share = size / 16n;
  if (size < 16n) return 0n;
  return share < 16n ? 16n : share > 256n ? 256n : share;
}
