import type { Clock, Random } from '#base';
import { checkDns1123Subdomain } from '#machinery';

const NANOS_PER_MS = 1_000_000;

/**
 * Names events as upstream: the object's name and the time in hexadecimal nanoseconds, without repetition. The clock has only
 * milliseconds; the rest is random, so that two recorders do not collide.
 */
export class EventNames {
  readonly #offset: bigint;
  #lastNanos = 0n;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.#offset = BigInt(random.int(NANOS_PER_MS));
  }

  next(objectName: string): string {
    const now = BigInt(this.clock.now()) * BigInt(NANOS_PER_MS) + this.#offset;
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    const name = `${objectName}.${this.#lastNanos.toString(16)}`;
    return checkDns1123Subdomain(name).length === 0 ? name : this.random.uuid();
  }
}
