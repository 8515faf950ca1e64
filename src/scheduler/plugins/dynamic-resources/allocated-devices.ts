import type { resource } from '#api';
import { Quantity } from '#machinery';
import { deviceId } from './offered-devices.ts';
import { TakenAmounts } from './shared-amounts.ts';
import type { Claim } from './wanted-devices.ts';

/** Which devices are in use, and how much of those that can be shared. */
export class AllocatedDevices {
  readonly #exclusive = new Set<string>();
  readonly #shared = new Set<string>();
  readonly #consumed = new TakenAmounts();

  constructor(claims: Iterable<Claim>) {
    for (const { status } of claims) for (const result of status?.allocation?.devices?.results ?? []) this.#add(result);
  }

  isUsed(id: string): boolean {
    return this.#exclusive.has(id) || this.#shared.has(id);
  }

  /** Whether nobody else can have it. */
  isExclusive(id: string): boolean {
    return this.#exclusive.has(id);
  }

  consumed(id: string, capacity: string): Quantity {
    return this.#consumed.of(`${id} ${capacity}`);
  }

  #add(result: resource.DeviceRequestAllocationResult): void {
    const { driver, pool, device, adminAccess, shareID, consumedCapacity } = result;
    // Those who only look after a device leave it to others.
    if (adminAccess === true) return;
    const id = deviceId(driver, pool, device);
    if (shareID === undefined) this.#exclusive.add(id);
    else this.#shared.add(id);
    for (const [name, amount] of Object.entries(consumedCapacity ?? {})) {
      this.#consumed.add(`${id} ${name}`, Quantity.fromJson(amount as string));
    }
  }
}
