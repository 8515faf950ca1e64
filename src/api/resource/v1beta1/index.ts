import type { ObjectSchema } from '#machinery';
import { inVersion } from '../../in-version.ts';
import * as v1 from '../v1/index.ts';
import { Device } from './device.ts';
import { DeviceRequest } from './device-request.ts';

export * from './conversion.ts';

const lifecycle = { introduced: '1.32', deprecated: '1.35', removed: '1.38' };
const types = new Map<string, ObjectSchema>([
  ['Device', Device],
  ['DeviceRequest', DeviceRequest],
]);

export const DeviceClass = inVersion(v1.DeviceClass, 'v1beta1', { lifecycle });
export const ResourceClaim = inVersion(v1.ResourceClaim, 'v1beta1', { lifecycle, types });
export const ResourceClaimTemplate = inVersion(v1.ResourceClaimTemplate, 'v1beta1', { lifecycle, types });
export const ResourceSlice = inVersion(v1.ResourceSlice, 'v1beta1', { lifecycle, types });
