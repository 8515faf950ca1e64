import type { core, resource } from '#api';
import type { Random } from '#base';
import { Quantity } from '#machinery';
import type { AllocatedDevices } from './allocated-devices.ts';
import { type AllocatedDevice, allocationOf } from './allocation-result.ts';
import { AttributeConstraint } from './attribute-constraint.ts';
import { type Claim, type ClaimRequests, type DeviceRequest, hasUntoleratedTaint, isSuitable, requestsOf } from './device-request.ts';
import { type DeviceSelectors, SearchTooExpensive } from './device-selectors.ts';
import type { DevicePool, OfferedDevice, PoolIndex } from './offered-devices.ts';
import { AllocatedAmounts, capacityFor, SharedCounters } from './shared-amounts.ts';

/** The maximum number of devices in a claim's status. */
const MAX_DEVICES = 32;
/** Backtracking steps at most, so that one pod cannot block the event loop. */
const MAX_STEPS = 100_000;

export interface DeviceSupply {
  readonly pools: PoolIndex;
  /** The devices of allocated and pending claims. */
  readonly allocated: AllocatedDevices;
  readonly selectors: DeviceSelectors;
  readonly random: Random;
  classNamed(name: string): resource.DeviceClass | undefined;
}

/** The devices cannot be allocated on the node; the reason, if there is one to report. */
export interface NoDevices {
  readonly reason: string;
}

/** Finds devices for claims on a node. Does not change its input. */
export class DeviceAllocator {
  readonly #supply: DeviceSupply;

  constructor(supply: DeviceSupply) {
    this.#supply = supply;
  }

  /** An allocation for each of the claims. Throws on an invalid claim or class, which applies to every node. */
  allocate(claims: readonly Claim[], node: core.SelectableNode): readonly resource.AllocationResult[] | NoDevices {
    this.#supply.selectors.beginSearch();
    try {
      return this.#search(claims, node);
    } catch (error) {
      throw error instanceof SearchTooExpensive ? timedOut(node) : error;
    }
  }

  #search(claims: readonly Claim[], node: core.SelectableNode): readonly resource.AllocationResult[] | NoDevices {
    const pools = this.#supply.pools.poolsFor(node);
    const requests = claims.map((claim) => requestsOf(claim, { ...this.#supply, pools }));
    const search = new DeviceSearch(requests, { pools, node, supply: this.#supply });
    if (search.run()) return claims.map((claim, i) => allocationOf(claim, search.allocated[i] ?? [], node.name));
    const isInvalid = pools.some((pool) => pool.isInvalid);
    return { reason: isInvalid ? 'invalid resource pools were encountered' : 'cannot allocate all claims' };
  }
}

function timedOut({ name }: core.SelectableNode): Error {
  return new Error(`node ${name}: timed out trying to allocate devices`);
}

interface SearchArea {
  readonly pools: readonly DevicePool[];
  readonly node: core.SelectableNode;
  readonly supply: DeviceSupply;
}

interface Position {
  readonly claim: number;
  readonly request: number;
}

/** Backtracking search over devices and requests; takes the first solution. */
class DeviceSearch {
  readonly allocated: AllocatedDevice[][];
  readonly #requests: readonly ClaimRequests[];
  readonly #area: SearchArea;
  readonly #constraints: readonly (readonly AttributeConstraint[])[];
  readonly #counters: SharedCounters;
  readonly #consumed = new AllocatedAmounts();
  readonly #suitable = new Map<DeviceRequest, Map<string, boolean>>();
  /** Devices of this search, with the claims that they are for. */
  readonly #usedDevices = new Map<string, Set<number>>();
  readonly #candidates: readonly OfferedDevice[];
  #steps = 0;

  constructor(requests: readonly ClaimRequests[], area: SearchArea) {
    this.#requests = requests;
    this.#area = area;
    this.allocated = requests.map(() => []);
    this.#constraints = requests.map(([first]) =>
      (first?.[0]?.claim.spec.devices?.constraints ?? []).map((constraint) => new AttributeConstraint(constraint)),
    );
    this.#counters = new SharedCounters(area.pools, (id) => area.supply.allocated.isUsed(id));
    const { pools } = area;
    this.#candidates = pools.length === 1 ? pools[0]!.devices : pools.flatMap(({ devices }) => devices);
  }

  run(): boolean {
    return this.#next({ claim: 0, request: 0 });
  }

  #next({ claim, request }: Position): boolean {
    const requests = this.#requests[claim];
    if (requests === undefined) return true;
    const alternatives = requests[request];
    if (alternatives === undefined) return this.#next({ claim: claim + 1, request: 0 });
    return alternatives.some((alternative) => this.#take(alternative, { claim, request }, { allocatedCount: 0, start: 0 }));
  }

  #take(deviceRequest: DeviceRequest, at: Position, { allocatedCount, start }: { allocatedCount: number; start: number }): boolean {
    if (++this.#steps > MAX_STEPS) throw timedOut(this.#area.node);
    if (deviceRequest.all?.length === 0) return false;
    if (allocatedCount === deviceRequest.count) return this.#next({ claim: at.claim, request: at.request + 1 });
    if ((this.allocated[at.claim]?.length ?? 0) + deviceRequest.count - allocatedCount > MAX_DEVICES) return false;
    const devices = deviceRequest.all ?? this.#candidates;
    // Allocation mode All leaves no choice: take the next device.
    const end = deviceRequest.all === undefined ? devices.length : start + 1;
    for (let i = start; i < end; i++) {
      const offered = devices[i] as OfferedDevice;
      if (!this.#try(deviceRequest, offered, at.claim)) continue;
      if (this.#take(deviceRequest, at, { allocatedCount: allocatedCount + 1, start: i + 1 })) return true;
      this.#undo(deviceRequest, offered, at.claim);
    }
    return false;
  }

  #try(deviceRequest: DeviceRequest, offered: OfferedDevice, claim: number): boolean {
    if (!this.#isFree(deviceRequest, offered, claim) || !this.#isSuitable(deviceRequest, offered)) return false;
    const isShared = this.#isSharedAlready(offered);
    if (!isShared && !this.#counters.take(offered)) return false;
    if (
      !hasUntoleratedTaint(deviceRequest, offered) &&
      this.#satisfies(deviceRequest, offered, claim) &&
      this.#consume(deviceRequest, offered, claim)
    ) {
      this.allocated[claim]?.push(this.#record(deviceRequest, offered, isShared));
      return true;
    }
    if (!isShared) this.#counters.giveBack(offered);
    return false;
  }

  #record(deviceRequest: DeviceRequest, offered: OfferedDevice, isShared: boolean): AllocatedDevice {
    if (offered.device.allowMultipleAllocations !== true) return { request: deviceRequest, offered, isShared };
    const consumedCapacity = capacityFor(offered.device, deviceRequest.capacity) ?? {};
    return { request: deviceRequest, offered, isShared, share: { id: this.#area.supply.random.uuid(), consumedCapacity } };
  }

  #isFree(deviceRequest: DeviceRequest, { id, device }: OfferedDevice, claim: number): boolean {
    const users = this.#usedDevices.get(id);
    if (deviceRequest.adminAccess) return device.allowMultipleAllocations === true || users?.has(claim) !== true;
    return !this.#area.supply.allocated.isExclusive(id) && (users?.size ?? 0) === 0;
  }

  /** Memoized: selector results do not change during the search. */
  #isSuitable(deviceRequest: DeviceRequest, offered: OfferedDevice): boolean {
    const results = this.#suitable.get(deviceRequest) ?? new Map<string, boolean>();
    this.#suitable.set(deviceRequest, results);
    const answer = results.get(offered.id) ?? isSuitable(deviceRequest, offered, this.#area.supply.selectors);
    results.set(offered.id, answer);
    return answer;
  }

  #isSharedAlready({ id, device }: OfferedDevice): boolean {
    if (device.allowMultipleAllocations !== true) return false;
    return this.#area.supply.allocated.isUsed(id) || this.allocated.some((devices) => devices.some(({ offered }) => offered.id === id));
  }

  #satisfies({ name }: DeviceRequest, offered: OfferedDevice, claim: number): boolean {
    const constraints = this.#constraints[claim] ?? [];
    const violated = constraints.findIndex((constraint) => !constraint.add(name, offered));
    if (violated < 0) return true;
    for (const constraint of constraints.slice(0, violated)) constraint.remove(name);
    return false;
  }

  /** Marks the device, or the consumed capacity of a shared one. */
  #consume(deviceRequest: DeviceRequest, offered: OfferedDevice, claim: number): boolean {
    const { id, device } = offered;
    if (device.allowMultipleAllocations !== true) {
      this.#usedDevices.set(id, (this.#usedDevices.get(id) ?? new Set()).add(claim));
      return true;
    }
    const amounts = Object.entries(capacityFor(device, deviceRequest.capacity) ?? {});
    const fits = amounts.every(([name, amount]) => {
      const used = this.#area.supply.allocated
        .consumed(id, name)
        .add(this.#consumed.of(`${id} ${name}`))
        .add(Quantity.fromJson(amount));
      return used.compare(Quantity.fromJson(device.capacity?.[name]?.value as string)) <= 0;
    });
    if (fits) for (const [name, amount] of amounts) this.#consumed.add(`${id} ${name}`, Quantity.fromJson(amount));
    else for (const constraint of this.#constraints[claim] ?? []) constraint.remove(deviceRequest.name);
    return fits;
  }

  #undo({ name }: DeviceRequest, offered: OfferedDevice, claim: number): void {
    const record = this.allocated[claim]?.pop();
    for (const constraint of this.#constraints[claim] ?? []) constraint.remove(name);
    if (record?.isShared === false) this.#counters.giveBack(offered);
    if (record?.share === undefined) this.#usedDevices.get(offered.id)?.delete(claim);
    for (const [capacity, amount] of Object.entries(record?.share?.consumedCapacity ?? {})) {
      this.#consumed.remove(`${offered.id} ${capacity}`, Quantity.fromJson(amount));
    }
  }
}
