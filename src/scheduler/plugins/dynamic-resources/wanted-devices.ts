import type { resource } from '#api';
import type { RequestName } from './attribute-constraint.ts';
import type { DeviceSelectors } from './device-selectors.ts';
import type { DevicePool, OfferedDevice } from './offered-devices.ts';
import { type Capacities, capacityFor } from './shared-amounts.ts';

export type Claim = resource.ResourceClaim;

/** What one request of a claim, or one alternative of it, asks for. */
export interface WantedDevices {
  readonly claim: Claim;
  readonly name: RequestName;
  readonly class: resource.DeviceClass;
  readonly count: number;
  /** All that match, when all are wanted: no other choice is left then. */
  readonly all: readonly OfferedDevice[] | undefined;
  readonly adminAccess: boolean;
  readonly selectors: readonly resource.DeviceSelector[];
  readonly tolerations: readonly resource.DeviceToleration[];
  readonly capacity: Capacities | undefined;
}

/** The alternatives of each request of a claim, the best first. */
export type WantedRequests = readonly (readonly WantedDevices[])[];

export interface Market {
  readonly pools: readonly DevicePool[];
  readonly selectors: DeviceSelectors;
  classNamed(name: string): resource.DeviceClass | undefined;
}

/** Throws, in upstream's words, when what is asked for cannot be understood, or told by now. */
export function wantedBy(claim: Claim, market: Market): WantedRequests {
  return (claim.spec.devices?.requests ?? []).map((request) => {
    const { name, exactly, firstAvailable = [] } = request;
    if (exactly !== undefined) return [wanted(claim, { name: { request: name, full: name }, asked: exactly }, market)];
    return firstAvailable.map((asked) => wanted(claim, { name: { request: name, full: `${name}/${asked.name}` }, asked }, market));
  });
}

interface Asked {
  readonly name: RequestName;
  readonly asked: resource.ExactDeviceRequest | resource.DeviceSubRequest;
}

function wanted(claim: Claim, { name, asked }: Asked, market: Market): WantedDevices {
  const { deviceClassName, selectors = [], tolerations = [], capacity, allocationMode, count } = asked;
  const where = `claim ${keyOf(claim)}, request ${name.full.slice(name.full.indexOf('/') + 1)}`;
  const deviceClass = market.classNamed(deviceClassName);
  if (deviceClass === undefined) {
    const missing = `deviceclass.resource.k8s.io "${deviceClassName}" not found`;
    throw new Error(`${where}: could not retrieve device class ${deviceClassName}: ${missing}`);
  }
  const adminAccess = 'adminAccess' in asked && asked.adminAccess === true;
  const known = { claim, name, class: deviceClass, adminAccess, selectors, tolerations, capacity: capacity?.requests as Capacities };
  if (allocationMode !== 'All') return { ...known, all: undefined, count: Number(count ?? 1) };
  const all = allMatching({ ...known, all: undefined, count: 0 }, market, where);
  return { ...known, all, count: all.length };
}

function allMatching(one: WantedDevices, { pools, selectors }: Market, where: string): readonly OfferedDevice[] {
  const unsure = pools.find(({ isIncomplete, isInvalid }) => isIncomplete || isInvalid);
  if (unsure !== undefined) {
    const state = unsure.isIncomplete ? 'being updated' : 'invalid';
    throw new Error(`${where}: asks for all devices, but resource pool ${unsure.driver}/${unsure.name} is currently ${state}`);
  }
  return pools.flatMap(({ devices }) => devices.filter((offered) => isSuitable(one, offered, selectors)));
}

/** Whether the device is what is asked for, be it free or not. */
export function isSuitable(one: WantedDevices, offered: OfferedDevice, selectors: DeviceSelectors): boolean {
  const isMatch =
    selectors.match(one.class.spec.selectors, offered, `class ${one.class.metadata.name}`) &&
    selectors.match(one.selectors, offered, `claim ${keyOf(one.claim)}`);
  return isMatch && capacityFor(offered.device, one.capacity) !== undefined;
}

export function keyOf({ metadata }: Claim): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether a taint of the device keeps the request away from it. */
export function isKeptAway({ tolerations }: WantedDevices, { device }: OfferedDevice): boolean {
  return (device.taints ?? []).some((taint) => {
    if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') return false;
    return !tolerations.some((toleration) => tolerates(toleration, taint));
  });
}

function tolerates({ key, operator, value, effect }: resource.DeviceToleration, taint: resource.DeviceTaint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || ((operator ?? 'Equal') === 'Equal' && (value ?? '') === (taint.value ?? ''));
}
