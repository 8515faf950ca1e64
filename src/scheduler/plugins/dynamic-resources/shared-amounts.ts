import type { resource } from '#api';
import { Quantity } from '#machinery';
import type { DevicePool, OfferedDevice } from './offered-devices.ts';
import { deviceId } from './offered-devices.ts';

/** Consumed amounts by key. */
export class AllocatedAmounts {
  readonly #amounts = new Map<string, Quantity>();

  of(key: string): Quantity {
    return this.#amounts.get(key) ?? Quantity.zero;
  }

  has(key: string): boolean {
    return this.#amounts.has(key);
  }

  add(key: string, amount: Quantity): void {
    this.#amounts.set(key, this.of(key).add(amount));
  }

  remove(key: string, amount: Quantity): void {
    const left = this.of(key).sub(amount);
    if (left.compare(Quantity.zero) === 0) this.#amounts.delete(key);
    else this.#amounts.set(key, left);
  }
}

interface Consumption {
  readonly key: string;
  readonly amount: Quantity;
}

function consumptionOf({ device, slice }: OfferedDevice): readonly Consumption[] {
  const { driver, pool } = slice.spec;
  return (device.consumesCounters ?? []).flatMap(({ counterSet, counters }) =>
    Object.entries(counters ?? {}).map(([name, { value }]) => ({
      key: `${driver}/${pool.name}/${counterSet}/${name}`,
      amount: Quantity.fromJson(value as string),
    })),
  );
}

/** The consumption of a pool's shared counters: partitions of a device exclude the whole, and other partitions. */
export class SharedCounters {
  readonly #total = new Map<string, Quantity>();
  readonly #takenAmounts = new AllocatedAmounts();

  /** Includes the consumption of allocated devices. */
  constructor(pools: readonly DevicePool[], isAllocated: (id: string) => boolean) {
    for (const { driver, name, slices, sharesCounters } of pools) {
      for (const slice of sharesCounters ? slices : []) {
        for (const { name: set, counters } of slice.spec.sharedCounters ?? []) {
          for (const [counter, { value }] of Object.entries(counters ?? {})) {
            this.#total.set(`${driver}/${name}/${set}/${counter}`, Quantity.fromJson(value as string));
          }
        }
        for (const device of slice.spec.devices ?? []) {
          const id = deviceId(driver, name, device.name);
          if (isAllocated(id)) this.#change({ id, device, slice }, 1);
        }
      }
    }
  }

  /** Consumes what the device needs, unless there is not enough. */
  take(offered: OfferedDevice): boolean {
    const fits = ({ key, amount }: Consumption) =>
      this.#takenAmounts
        .of(key)
        .add(amount)
        .compare(this.#total.get(key) ?? Quantity.zero) <= 0;
    if (!consumptionOf(offered).every(fits)) return false;
    this.#change(offered, 1);
    return true;
  }

  giveBack(offered: OfferedDevice): void {
    this.#change(offered, -1);
  }

  #change(offered: OfferedDevice, sign: 1 | -1): void {
    for (const { key, amount } of consumptionOf(offered)) {
      if (sign === 1) this.#takenAmounts.add(key, amount);
      else this.#takenAmounts.remove(key, amount);
    }
  }
}

export type Capacities = Readonly<Record<string, string>>;

/** The consumed capacity of a device by a request; undefined when the device cannot satisfy it. */
export function capacityFor(device: resource.Device, requests: Capacities | undefined): Capacities | undefined {
  const offered = device.capacity ?? {};
  if (Object.keys(requests ?? {}).some((name) => offered[name] === undefined)) return undefined;
  const consumed: Record<string, string> = {};
  for (const [name, capacity] of Object.entries(offered)) {
    const amount = portion(capacity, requests?.[name]);
    if (violates(amount, capacity.requestPolicy) || amount.compare(Quantity.fromJson(capacity.value as string)) > 0) return undefined;
    consumed[name] = amount.toString();
  }
  return consumed;
}

/** Rounded up to the capacity's step. */
function portion({ value, requestPolicy }: resource.DeviceCapacity, request: string | undefined): Quantity {
  const usual = (requestPolicy?.default ?? value) as string;
  if (request === undefined) return Quantity.fromJson(usual);
  const amount = Quantity.fromJson(request);
  const { validRange, validValues } = requestPolicy ?? {};
  if (validRange?.min != null) return inRange(amount, validRange);
  return (validValues ?? []).map((value) => Quantity.fromJson(value as string)).find((one) => amount.compare(one) <= 0) ?? amount;
}

function inRange(amount: Quantity, { min, step }: resource.CapacityRequestPolicyRange): Quantity {
  const least = Quantity.fromJson(min as string);
  if (amount.compare(least) < 0) return least;
  if (step == null) return amount;
  const steps = Math.ceil((amount.value() - least.value()) / Quantity.fromJson(step as string).value());
  return Quantity.of(least.value() + steps * Quantity.fromJson(step as string).value(), 'BinarySI');
}

function violates(amount: Quantity, policy: resource.CapacityRequestPolicy | undefined): boolean {
  if (policy == null || (policy.default != null && amount.compare(Quantity.fromJson(policy.default as string)) === 0)) return false;
  const { validRange, validValues } = policy;
  if (validRange != null) return validRange.max != null && amount.compare(Quantity.fromJson(validRange.max as string)) > 0;
  return (validValues?.length ?? 0) > 0 && !validValues?.some((value) => amount.compare(Quantity.fromJson(value as string)) === 0);
}
