import type { core, resource } from '#api';
import { semanticEqual } from '#machinery';
import type { Claim, DeviceRequest } from './device-request.ts';
import type { OfferedDevice } from './offered-devices.ts';
import type { Capacities } from './shared-amounts.ts';

/** An allocated device and its request. */
export interface AllocatedDevice {
  readonly request: DeviceRequest;
  readonly offered: OfferedDevice;
  /** Another claim already has a share of it. */
  readonly isShared: boolean;
  /** For devices that allow multiple allocations. */
  readonly share?: { readonly id: string; readonly consumedCapacity: Capacities };
}

/** As written to a claim's status. */
export function allocationOf(claim: Claim, devices: readonly AllocatedDevice[], nodeName: string): resource.AllocationResult {
  const config = configurationOf(claim, devices);
  const nodeSelector = nodeSelectorOf(devices, nodeName);
  return {
    devices: { results: devices.map(resultOf), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  };
}

function resultOf({ request, offered, share }: AllocatedDevice): resource.DeviceRequestAllocationResult {
  const { device, slice } = offered;
  const { bindingConditions, bindingFailureConditions } = device;
  return {
    request: request.name.full,
    driver: slice.spec.driver,
    pool: slice.spec.pool.name,
    device: device.name,
    ...(request.adminAccess && { adminAccess: true }),
    ...(request.tolerations.length > 0 && { tolerations: [...request.tolerations] }),
    ...(bindingConditions && { bindingConditions }),
    ...(bindingFailureConditions && { bindingFailureConditions }),
    ...(share && { shareID: share.id }),
    ...(share && Object.keys(share.consumedCapacity).length > 0 && { consumedCapacity: share.consumedCapacity }),
  } as resource.DeviceRequestAllocationResult;
}

/** Settings of the classes come first, each with the requests that it is for; then those of the claim. */
function configurationOf({ spec }: Claim, devices: readonly AllocatedDevice[]): resource.DeviceAllocationConfiguration[] {
  const chosen = new Map(devices.map(({ request }) => [request.name.full, request]));
  const requestsOf = new Map<resource.DeviceClass, string[]>();
  for (const { name, class: deviceClass } of chosen.values()) {
    requestsOf.set(deviceClass, [...(requestsOf.get(deviceClass) ?? []), name.full]);
  }
  const ofClasses = [...requestsOf].flatMap(([deviceClass, requests]) =>
    (deviceClass.spec.config ?? []).map((config) => ({ source: 'FromClass', requests, ...config })),
  );
  const isConcerned = (requests: readonly string[]) =>
    [...chosen.values()].some(({ name }) => requests.includes(name.request) || requests.includes(name.full));
  const ofClaim = (spec.devices?.config ?? [])
    .filter(({ requests = [] }) => requests.length === 0 || isConcerned(requests))
    .map((config) => ({ source: 'FromClaim', ...config }));
  return [...ofClasses, ...ofClaim] as resource.DeviceAllocationConfiguration[];
}

/** The nodes where all devices can be used; undefined: everywhere. */
function nodeSelectorOf(devices: readonly AllocatedDevice[], nodeName: string): core.NodeSelector | undefined {
  const fields: core.NodeSelectorRequirement[] = [];
  const expressions: core.NodeSelectorRequirement[] = [];
  for (const { offered } of devices) {
    const { device, slice } = offered;
    const reach = slice.spec.perDeviceNodeSelection === true ? device : slice.spec;
    if (reach.nodeName || device.bindsToNode === true) return onlyOn(nodeName);
    const [term] = reach.nodeSelector?.nodeSelectorTerms ?? [];
    addNew(fields, term?.matchFields ?? []);
    addNew(expressions, term?.matchExpressions ?? []);
  }
  if (fields.length + expressions.length === 0) return undefined;
  const term = { ...(expressions.length > 0 && { matchExpressions: expressions }), ...(fields.length > 0 && { matchFields: fields }) };
  return { nodeSelectorTerms: [term] };
}

function onlyOn(nodeName: string): core.NodeSelector {
  return { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }] };
}

function addNew(requirements: core.NodeSelectorRequirement[], added: readonly core.NodeSelectorRequirement[]): void {
  for (const requirement of added)
    if (!requirements.some((existing) => semanticEqual(existing as never, requirement as never))) requirements.push(requirement);
}
