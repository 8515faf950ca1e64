import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { runtimeClassesStrategy } from './runtime-classes.ts';

export const NODE: RegistryGroup = registryGroup([runtimeClassesStrategy]);
