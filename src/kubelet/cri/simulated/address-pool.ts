import { bitsOf, formatIp, type IpNetwork, parseCidr } from '#base';
import { RuntimeError } from '../runtime.ts';

/** Hands out the addresses of one network, each to one holder at a time, and not again soon after it came back. */
export class AddressPool {
  readonly #network: IpNetwork;
  readonly #size: bigint;
  readonly #taken = new Set<bigint>();
  #next = FIRST_HOST;

  constructor(readonly cidr: string) {
    const network = parseCidr(cidr);
    if (network === undefined) throw new RuntimeError('invalid', `${JSON.stringify(cidr)} is not a range of addresses`);
    this.#network = network;
    this.#size = 1n << BigInt(bitsOf(network.family) - network.prefixLength);
  }

  take(): string {
    for (let tried = FIRST_HOST; tried < this.#size; tried++) {
      const offset = this.#next;
      this.#next = offset + 1n >= this.#size - this.#broadcast ? FIRST_HOST : offset + 1n;
      if (this.#taken.has(offset)) continue;
      this.#taken.add(offset);
      return formatIp({ family: this.#network.family, value: this.#network.base + offset });
    }
    throw new RuntimeError('sandboxFailed', `no address is left in ${this.cidr}`);
  }

  /** An address that is in use already, as a restored sandbox's is. Those of other networks are ignored. */
  claim(value: bigint): void {
    const offset = value - this.#network.base;
    if (offset >= 0n && offset < this.#size) this.#taken.add(offset);
  }

  release(value: bigint): void {
    this.#taken.delete(value - this.#network.base);
  }

  get #broadcast(): bigint {
    return this.#network.family === 4 ? 1n : 0n;
  }
}

/** The network's own address and its gateway are nobody's. */
const FIRST_HOST = 2n;
