import type { Clock } from '#base';
import type { Lease, LeaseId } from '../store.ts';
import { TtlLeases } from '../ttl-leases.ts';

/** Finds leases for keys with a time to live, granting one when none can be shared. */
export class EtcdTtlLeases {
  readonly #clock: Clock;
  readonly #grant: (ttlSeconds: number) => Promise<Lease>;
  readonly #shared = new TtlLeases();
  readonly #granting = new Map<number, Promise<LeaseId>>();

  constructor(clock: Clock, grant: (ttlSeconds: number) => Promise<Lease>) {
    this.#clock = clock;
    this.#grant = grant;
  }

  async find(ttlSeconds: number): Promise<LeaseId> {
    const shared = this.#shared.take(ttlSeconds, this.#clock.now());
    return shared ?? this.#granted(ttlSeconds);
  }

  forget(id: LeaseId): void {
    this.#shared.forget(id);
  }

  /** Calls that arrive while a lease is being granted share it. */
  #granted(ttlSeconds: number): Promise<LeaseId> {
    const running = this.#granting.get(ttlSeconds);
    if (running !== undefined) return running;
    const now = this.#clock.now();
    const granting = this.#grant(TtlLeases.grantSeconds(ttlSeconds))
      .then(({ id }) => {
        this.#shared.remember(ttlSeconds, id, now);
        return id;
      })
      .finally(() => this.#granting.delete(ttlSeconds));
    this.#granting.set(ttlSeconds, granting);
    return granting;
  }
}
