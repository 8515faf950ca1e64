import type { LeaseId } from './store.ts';

/** A lease accepts new keys for this long, or for a twentieth of its TTL if that is shorter: upstream's numbers. */
const REUSE_SECONDS = 60;
const REUSE_SHARE = 0.05;
/** More keys than this would make the deletion of one lease a long pause. */
const MAX_KEYS = 1_000;

/** Shares leases among keys with a TTL: otherwise every Event would need its own lease. */
export class TtlLeases {
  readonly #open = new Map<number, OpenLease>();

  constructor(source?: TtlLeases) {
    if (source !== undefined) for (const [ttl, lease] of source.#open) this.#open.set(ttl, { ...lease });
  }

  /** The TTL of a lease that keys with this TTL can share. */
  static grantSeconds(ttlSeconds: number): number {
    return ttlSeconds + reuseSeconds(ttlSeconds);
  }

  /** The lease to use, with one more key counted; undefined when one must be granted and added first. */
  take(ttlSeconds: number, nowMs: number): LeaseId | undefined {
    const lease = this.#open.get(ttlSeconds);
    if (lease === undefined || nowMs > lease.openUntil || lease.keys >= MAX_KEYS) return undefined;
    lease.keys++;
    return lease.id;
  }

  /** `id` was granted at `nowMs` for `grantSeconds(ttlSeconds)`; it has one key. */
  remember(ttlSeconds: number, id: LeaseId, nowMs: number): void {
    this.#open.set(ttlSeconds, { id, openUntil: nowMs + reuseSeconds(ttlSeconds) * 1_000, keys: 1 });
  }

  forget(id: LeaseId): void {
    for (const [ttl, lease] of this.#open) if (lease.id === id) this.#open.delete(ttl);
  }
}

interface OpenLease {
  readonly id: LeaseId;
  readonly openUntil: number;
  keys: number;
}

function reuseSeconds(ttlSeconds: number): number {
  return Math.min(REUSE_SECONDS, Math.floor(ttlSeconds * REUSE_SHARE));
}
