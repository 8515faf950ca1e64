import { inVersion } from '../../in-version.ts';
import * as v1 from '../v1/index.ts';
import * as v1alpha3 from '../v1alpha3/index.ts';

const lifecycle = { introduced: '1.33', deprecated: '1.36', removed: '1.39' };

export const DeviceClass = inVersion(v1.DeviceClass, 'v1beta2', { lifecycle });
export const ResourceClaim = inVersion(v1.ResourceClaim, 'v1beta2', { lifecycle });
export const ResourceClaimTemplate = inVersion(v1.ResourceClaimTemplate, 'v1beta2', { lifecycle });
export const ResourceSlice = inVersion(v1.ResourceSlice, 'v1beta2', { lifecycle });
export const DeviceTaintRule = inVersion(v1alpha3.DeviceTaintRule, 'v1beta2', {
  lifecycle: { introduced: '1.36', deprecated: '1.39', removed: '1.42' },
});
