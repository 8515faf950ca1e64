import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { endpointSlicesStrategy } from './endpoint-slices.ts';

export const DISCOVERY: RegistryGroup = registryGroup([endpointSlicesStrategy]);
