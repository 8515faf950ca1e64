import { bitsOf, formatIp, type IpNetwork, parseCidr, parseIp } from '#base';

/** The limit per range, above any node's number of pods: the search through an IPv6 range must end. */
const MAX_ADDRESSES = 2 ** 20;

/** The addresses of one pod CIDR; allocated round robin, so that released addresses are not reused at once. */
export class AddressRange {
  readonly network: IpNetwork;
  /** The first address, which the node uses as the gateway. */
  readonly gateway: string;
  readonly #used = new Set<string>();
  readonly #count: bigint;
  #next = 0n;

  constructor(cidr: string) {
    const network = parseCidr(cidr);
    if (network === undefined) throw new TypeError(`podCIDR "${cidr}" is not a range of addresses`);
    const size = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
    // Without the network, gateway and broadcast addresses.
    if (size < 4n) throw new TypeError(`podCIDR "${cidr}" has no address for a pod`);
    this.network = network;
    this.gateway = this.#at(1n);
    this.#count = BigInt(Math.min(Number(size - 3n), MAX_ADDRESSES));
  }

  get family(): 4 | 6 {
    return this.network.family;
  }

  /** Undefined when the range is full. */
  allocate(): string | undefined {
    for (let attempt = 0n; attempt < this.#count; attempt++) {
      const offset = (this.#next + attempt) % this.#count;
      const address = this.#at(offset + 2n);
      if (this.#used.has(address)) continue;
      this.#used.add(address);
      this.#next = (offset + 1n) % this.#count;
      return address;
    }
    return undefined;
  }

  /** Marks an address as used. */
  occupy(address: string): void {
    this.#used.add(address);
    const parsed = parseIp(address);
    if (parsed === undefined || parsed.family !== this.family) return;
    const offset = parsed.value - this.network.base - 1n;
    if (offset > 0n && offset <= this.#count) this.#next = offset % this.#count;
  }

  release(address: string): void {
    this.#used.delete(address);
  }

  #at(offset: bigint): string {
    return formatIp({ family: this.family, value: this.network.base + offset });
  }
}

/** The node's podCIDRs, at most one per family. */
export class AddressPool {
  readonly ranges: readonly AddressRange[];

  constructor(podCidrs: readonly string[]) {
    this.ranges = podCidrs.map((cidr) => new AddressRange(cidr));
  }

  /** One address of each range, or undefined when a range is full. */
  allocate(): readonly string[] | undefined {
    const addresses: string[] = [];
    for (const range of this.ranges) {
      const address = range.allocate();
      if (address === undefined) {
        this.release(addresses);
        return undefined;
      }
      addresses.push(address);
    }
    return addresses;
  }

  occupy(addresses: readonly string[]): void {
    for (const range of this.ranges) for (const address of addresses) range.occupy(address);
  }

  release(addresses: readonly string[]): void {
    for (const range of this.ranges) for (const address of addresses) range.release(address);
  }
}
