import type { Clock, Random } from '#base';
import { checkDns1123Subdomain } from '#machinery';

/** Names events as upstream does: the object's name and the time in hexadecimal nanoseconds, which never repeat. */
export class EventNames {
  #lastNanos = 0n;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  next(objectName: string): string {
    const now = BigInt(this.clock.now()) * 1_000_000n;
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    const name = `${objectName}.${this.#lastNanos.toString(16)}`;
    return checkDns1123Subdomain(name).length === 0 ? name : this.random.uuid();
  }
}
