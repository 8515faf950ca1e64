import type { resource } from '#api';
import type { Lister } from '#client';
import type { Claim } from './wanted-devices.ts';

/** Allocations that were decided but are not in the claims yet, as far as we see: no two pods may be given the same devices. */
export class PendingAllocations {
  readonly #pending = new Map<string, Claim>();

  constructor(private readonly claims: Lister<resource.ResourceClaim>) {}

  add(claim: Claim, allocation: resource.AllocationResult): void {
    this.#pending.set(claim.metadata.uid ?? '', { ...claim, status: { ...claim.status, allocation } });
  }

  delete(claim: Claim): void {
    this.#pending.delete(claim.metadata.uid ?? '');
  }

  has({ metadata }: Claim): boolean {
    this.#forgetSeen();
    return this.#pending.has(metadata.uid ?? '');
  }

  /** Every claim that has devices, or is about to. */
  allocated(): readonly Claim[] {
    this.#forgetSeen();
    return [...this.claims.list().filter(({ status }) => status?.allocation !== undefined), ...this.#pending.values()];
  }

  /** The cluster's word counts as soon as it has one. */
  #forgetSeen(): void {
    for (const [uid, { metadata }] of this.#pending) {
      const seen = this.claims.get(metadata);
      if (seen === undefined || seen.metadata.uid !== uid || seen.status?.allocation !== undefined) this.#pending.delete(uid);
    }
  }
}
