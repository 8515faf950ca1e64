import { formatCidr, type IpNetwork, networkContains, parseCidr } from '#base';

/** The subnets of a range, and which of them are in use. */
export class CidrSet {
  readonly #range: IpNetwork;
  readonly #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor(
    range: string,
    private readonly maskSize: number,
  ) {
    const parsed = parseCidr(range);
    if (parsed === undefined) throw new TypeError(`--cluster-cidr: "${range}" is not a range of addresses`);
    if (maskSize < parsed.prefixLength) throw new TypeError(`--node-cidr-mask-size ${maskSize} is larger than --cluster-cidr ${range}`);
    this.#range = parsed;
    this.#size = 2 ** Math.min(maskSize - parsed.prefixLength, 30);
  }

  get family(): 4 | 6 {
    return this.#range.family;
  }

  /** The subnet to allocate next; undefined when the range is exhausted. */
  nextFree(): string | undefined {
    for (let offset = 0; offset < this.#size; offset++) {
      const index = (this.#next + offset) % this.#size;
      if (!this.#used.has(index)) return this.#subnet(index);
    }
    return undefined;
  }

  /** Takes a subnet of `nextFree`. Released subnets are allocated again only after all others. */
  allocate(cidr: string): void {
    const [index] = this.#indexes(cidr);
    if (index === undefined) return;
    this.#used.add(index);
    this.#next = (index + 1) % this.#size;
  }

  /** Marks every overlapping subnet as used. CIDRs outside of the range are ignored. */
  occupy(cidr: string): void {
    for (const index of this.#indexes(cidr)) this.#used.add(index);
  }

  release(cidr: string): void {
    for (const index of this.#indexes(cidr)) this.#used.delete(index);
  }

  #indexes(cidr: string): readonly number[] {
    const parsed = parseCidr(cidr);
    if (parsed === undefined || parsed.family !== this.family) return [];
    if (parsed.prefixLength <= this.#range.prefixLength) {
      return networkContains(parsed, { ...this.#range.address, value: this.#range.base })
        ? Array.from({ length: this.#size }, (_, i) => i)
        : [];
    }
    if (!networkContains(this.#range, { ...parsed.address, value: parsed.base })) return [];
    const first = Number((parsed.base - this.#range.base) >> BigInt(this.#bits - this.maskSize));
    const count = parsed.prefixLength >= this.maskSize ? 1 : 2 ** (this.maskSize - parsed.prefixLength);
    return Array.from({ length: count }, (_, i) => first + i);
  }

  #subnet(index: number): string {
    const base = this.#range.base + (BigInt(index) << BigInt(this.#bits - this.maskSize));
    const address = { ...this.#range.address, value: base };
    return formatCidr({ ...this.#range, address, base, prefixLength: this.maskSize });
  }

  get #bits(): number {
    return this.family === 4 ? 32 : 128;
  }
}
