import { inVersion } from '../../in-version.ts';
import * as v1 from '../v1/index.ts';

const lifecycle = { introduced: '1.31', deprecated: '1.34', removed: '1.37' };

export const IPAddress = inVersion(v1.IPAddress, 'v1beta1', { lifecycle });
export const ServiceCIDR = inVersion(v1.ServiceCIDR, 'v1beta1', { lifecycle });
