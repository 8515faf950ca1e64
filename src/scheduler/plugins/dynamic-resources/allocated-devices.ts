import { Quantity } from '#machinery';
import type { Claim } from './device-request.ts';
import { deviceId } from './offered-devices.ts';
import { AllocatedAmounts } from './shared-amounts.ts';

/** Allocated devices, and the consumed capacity of shared ones. Updated incrementally from changed claims. */
export class AllocatedDevices {
  readonly #exclusive = new UseCounts();
  readonly #shared = new UseCounts();
  readonly #consumed = new AllocatedAmounts();
  #claims: readonly Claim[] = [];
  #pending: readonly Claim[] = [];

  /** Counts the claims of the cluster and pending ones, in any order; a stable order is cheap. */
  follow(claims: readonly Claim[], pending: readonly Claim[]): void {
    this.#replace(this.#claims, claims);
    this.#replace(this.#pending, pending);
    this.#claims = claims;
    this.#pending = pending;
  }

  isUsed(id: string): boolean {
    return this.#exclusive.has(id) || this.#shared.has(id);
  }

  /** Whether the device is allocated exclusively. */
  isExclusive(id: string): boolean {
    return this.#exclusive.has(id);
  }

  consumed(id: string, capacity: string): Quantity {
    return this.#consumed.of(`${id} ${capacity}`);
  }

  #replace(before: readonly Claim[], after: readonly Claim[]): void {
    let i = 0;
    for (const claim of after) {
      // Claims between the two positions were deleted, or come later.
      while (i < before.length && before[i] !== claim && before[i]?.metadata.uid !== claim.metadata.uid) this.#count(before[i++]!, -1);
      const previous = before[i++];
      if (previous === claim) continue;
      if (previous !== undefined) this.#count(previous, -1);
      this.#count(claim, 1);
    }
    for (; i < before.length; i++) this.#count(before[i]!, -1);
  }

  #count({ status }: Claim, by: 1 | -1): void {
    for (const result of status?.allocation?.devices?.results ?? []) {
      const { driver, pool, device, adminAccess, shareID, consumedCapacity } = result;
      // Admin access does not allocate the device.
      if (adminAccess === true) continue;
      const id = deviceId(driver, pool, device);
      (shareID === undefined ? this.#exclusive : this.#shared).change(id, by);
      for (const [name, amount] of Object.entries(consumedCapacity ?? {})) {
        const quantity = Quantity.fromJson(amount as string);
        if (by > 0) this.#consumed.add(`${id} ${name}`, quantity);
        else this.#consumed.remove(`${id} ${name}`, quantity);
      }
    }
  }
}

class UseCounts {
  readonly #counts = new Map<string, number>();

  has(id: string): boolean {
    return this.#counts.has(id);
  }

  change(id: string, by: 1 | -1): void {
    const count = (this.#counts.get(id) ?? 0) + by;
    if (count === 0) this.#counts.delete(id);
    else this.#counts.set(id, count);
  }
}
