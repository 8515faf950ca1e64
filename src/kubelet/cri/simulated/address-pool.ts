import { bitsOf, formatIp, type IpNetwork, parseCidr } from '#base';
import { RuntimeError } from '../runtime.ts';

/** Allocates the addresses of one network; released ones are reused as late as possible. */
export class AddressPool {
  readonly #network: IpNetwork;
  readonly #size: bigint;
  readonly #addresses = new Set<bigint>();
  #next = FIRST_HOST;

  constructor(readonly cidr: string) {
    const network = parseCidr(cidr);
    if (network === undefined) throw new RuntimeError('invalidArgument', `${JSON.stringify(cidr)} is not a range of addresses`);
    this.#network = network;
    this.#size = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
  }

  take(): string {
    for (let attempt = FIRST_HOST; attempt < this.#size; attempt++) {
      const offset = this.#next;
      this.#next = offset + 1n >= this.#size - this.#broadcast ? FIRST_HOST : offset + 1n;
      if (this.#addresses.has(offset)) continue;
      this.#addresses.add(offset);
      return formatIp({ family: this.#network.family, value: this.#network.base + offset });
    }
    throw new RuntimeError('resourceExhausted', `no address is left in ${this.cidr}`);
  }

  /** Marks an address as used, such as that of a restored sandbox. Addresses outside of the network are ignored. */
  claim(value: bigint): void {
    const offset = value - this.#network.base;
    if (offset >= 0n && offset < this.#size) this.#addresses.add(offset);
  }

  release(value: bigint): void {
    this.#addresses.delete(value - this.#network.base);
  }

  get #broadcast(): bigint {
    return this.#network.family === 4 ? 1n : 0n;
  }
}

/** The network address and the gateway are reserved. */
const FIRST_HOST = 2n;
