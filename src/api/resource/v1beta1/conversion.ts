import type * as v1 from '../v1/index.ts';
import type { Device } from './device.ts';
import type { DeviceRequest } from './device-request.ts';

/**
 * Claims, templates and slices of this version: only certain lists have another form. Objects that were not decoded by the schema (old ones) may lack
 * any part.
 */
export interface ClaimSpec {
  readonly devices?: { readonly requests?: readonly DeviceRequest[] | null };
}

export interface SliceSpec {
  readonly devices?: readonly Device[];
}

type V1ClaimSpec = Partial<v1.ResourceClaimSpec>;

export function claimSpecToV1(spec: ClaimSpec): V1ClaimSpec {
  const { requests } = spec.devices ?? {};
  if (!requests) return spec as V1ClaimSpec;
  return { ...spec, devices: { ...spec.devices, requests: requests.map(requestToV1) } };
}

export function claimSpecFromV1(spec: V1ClaimSpec): ClaimSpec {
  const { requests } = spec.devices ?? {};
  if (!requests) return spec as ClaimSpec;
  return { ...spec, devices: { ...spec.devices, requests: requests.map(requestFromV1) } };
}

/** Without alternatives a request is exact, if only for its defaults. */
function requestToV1({ name, firstAvailable, deviceClassName = '', ...rest }: DeviceRequest): v1.DeviceRequest {
  const isAlternative = firstAvailable !== undefined && firstAvailable.length > 0;
  const isExact = !isAlternative || deviceClassName !== '' || Object.keys(rest).length > 0;
  return { name, ...(isExact && { exactly: { deviceClassName, ...rest } }), ...(firstAvailable && { firstAvailable }) };
}

function requestFromV1({ name, exactly, firstAvailable }: v1.DeviceRequest): DeviceRequest {
  return { name, deviceClassName: '', ...exactly, ...(firstAvailable && { firstAvailable }) };
}

export function sliceSpecToV1(spec: SliceSpec): Partial<v1.ResourceSliceSpec> {
  if (spec.devices === undefined) return spec as Partial<v1.ResourceSliceSpec>;
  return { ...spec, devices: spec.devices.map(({ name, basic }) => ({ name, ...basic })) };
}

export function sliceSpecFromV1(spec: Partial<v1.ResourceSliceSpec>): SliceSpec {
  if (spec.devices === undefined) return spec as SliceSpec;
  return { ...spec, devices: spec.devices.map(({ name, ...basic }) => ({ name, basic })) };
}
