import type { resource } from '#api';
import type { Lister } from '#client';
import { AllocatedDevices } from './allocated-devices.ts';
import type { Claim } from './device-request.ts';
import { isInMemory } from './extended-resources.ts';

/** Decided allocations that the informer does not show yet: no device may be allocated twice. */
export class PendingAllocations {
  readonly #pending = new Map<string, Claim>();
  /** Uids of claims that the informer does not show yet because we have just created them. */
  readonly #unseen = new Set<string>();
  readonly #devices = new AllocatedDevices();

  constructor(private readonly claims: Lister<resource.ResourceClaim>) {}

  add(claim: Claim, allocation: resource.AllocationResult): void {
    this.#pending.set(claim.metadata.uid ?? '', { ...claim, status: { ...claim.status, allocation } });
  }

  /** The claim is in the cluster now, under its own uid. */
  replace(inMemory: Claim, created: Claim): void {
    const { status } = this.#pending.get(inMemory.metadata.uid ?? '') ?? {};
    this.delete(inMemory);
    if (status?.allocation === undefined) return;
    this.#unseen.add(created.metadata.uid ?? '');
    this.add(created, status.allocation);
  }

  delete(claim: Claim): void {
    this.#unseen.delete(claim.metadata.uid ?? '');
    this.#pending.delete(claim.metadata.uid ?? '');
  }

  has({ metadata }: Claim): boolean {
    this.#forgetSeen();
    return this.#pending.has(metadata.uid ?? '');
  }

  /** The devices of allocated and pending claims; valid until the next call. */
  devices(): AllocatedDevices {
    this.#forgetSeen();
    this.#devices.follow(this.claims.list(), [...this.#pending.values()]);
    return this.#devices;
  }

  /** The informer's version wins once it is newer. */
  #forgetSeen(): void {
    for (const [uid, { metadata }] of this.#pending) {
      const seen = this.claims.get(metadata);
      if (seen !== undefined) this.#unseen.delete(uid);
      if (seen === undefined && (isInMemory({ metadata }) || this.#unseen.has(uid))) continue;
      if (seen === undefined || seen.metadata.uid !== uid || seen.status?.allocation !== undefined) this.#pending.delete(uid);
    }
  }
}
