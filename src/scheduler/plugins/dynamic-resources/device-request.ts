import { core, type resource } from '#api';
import type { RequestName } from './attribute-constraint.ts';
import type { DeviceSelectors } from './device-selectors.ts';
import type { DevicePool, OfferedDevice } from './offered-devices.ts';
import { type Capacities, capacityFor } from './shared-amounts.ts';

export type Claim = resource.ResourceClaim;

/** One request of a claim, or one of its alternatives. */
export interface DeviceRequest {
  readonly claim: Claim;
  readonly name: RequestName;
  readonly class: resource.DeviceClass;
  readonly count: number;
  /** All matching devices, for allocation mode All. */
  readonly all: readonly OfferedDevice[] | undefined;
  readonly adminAccess: boolean;
  readonly selectors: readonly resource.DeviceSelector[];
  readonly tolerations: readonly resource.DeviceToleration[];
  readonly capacity: Capacities | undefined;
}

/** The alternatives of each request of a claim, the best first. */
export type ClaimRequests = readonly (readonly DeviceRequest[])[];

export interface AvailableDevices {
  readonly pools: readonly DevicePool[];
  readonly selectors: DeviceSelectors;
  classNamed(name: string): resource.DeviceClass | undefined;
}

/** Throws upstream's message if the request is invalid or cannot be evaluated yet. */
export function requestsOf(claim: Claim, devices: AvailableDevices): ClaimRequests {
  return (claim.spec.devices?.requests ?? []).map((request) => {
    const { name, exactly, firstAvailable = [] } = request;
    if (exactly !== undefined) return [resolveRequest(claim, { name: { request: name, full: name }, request: exactly }, devices)];
    return firstAvailable.map((subRequest) =>
      resolveRequest(claim, { name: { request: name, full: `${name}/${subRequest.name}` }, request: subRequest }, devices),
    );
  });
}

interface NamedRequest {
  readonly name: RequestName;
  readonly request: resource.ExactDeviceRequest | resource.DeviceSubRequest;
}

function resolveRequest(claim: Claim, { name, request }: NamedRequest, devices: AvailableDevices): DeviceRequest {
  const { deviceClassName, selectors = [], tolerations = [], capacity, allocationMode, count } = request;
  const where = `claim ${keyOf(claim)}, request ${name.full.slice(name.full.indexOf('/') + 1)}`;
  const deviceClass = devices.classNamed(deviceClassName);
  if (deviceClass === undefined) {
    const missing = `deviceclass.resource.k8s.io "${deviceClassName}" not found`;
    throw new Error(`${where}: could not retrieve device class ${deviceClassName}: ${missing}`);
  }
  const adminAccess = 'adminAccess' in request && request.adminAccess === true;
  const common = { claim, name, class: deviceClass, adminAccess, selectors, tolerations, capacity: capacity?.requests as Capacities };
  if (allocationMode !== 'All') return { ...common, all: undefined, count: Number(count ?? 1) };
  const all = allMatching({ ...common, all: undefined, count: 0 }, devices, where);
  return { ...common, all, count: all.length };
}

function allMatching(request: DeviceRequest, { pools, selectors }: AvailableDevices, where: string): readonly OfferedDevice[] {
  const unsure = pools.find(({ isIncomplete, isInvalid }) => isIncomplete || isInvalid);
  if (unsure !== undefined) {
    const state = unsure.isIncomplete ? 'being updated' : 'invalid';
    throw new Error(`${where}: asks for all devices, but resource pool ${unsure.driver}/${unsure.name} is currently ${state}`);
  }
  return pools.flatMap(({ devices }) => devices.filter((offered) => isSuitable(request, offered, selectors)));
}

/** Whether the device matches the request, allocated or not. */
export function isSuitable(request: DeviceRequest, offered: OfferedDevice, selectors: DeviceSelectors): boolean {
  const isMatch =
    selectors.match(request.class.spec.selectors, offered, `class ${request.class.metadata.name}`) &&
    selectors.match(request.selectors, offered, `claim ${keyOf(request.claim)}`);
  return isMatch && capacityFor(offered.device, request.capacity) !== undefined;
}

export function keyOf({ metadata }: Claim): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether the request does not tolerate a taint of the device. */
export function hasUntoleratedTaint({ tolerations }: DeviceRequest, { device }: OfferedDevice): boolean {
  return (device.taints ?? []).some((taint) => {
    if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') return false;
    return !core.isTaintTolerated(tolerations, taint);
  });
}
