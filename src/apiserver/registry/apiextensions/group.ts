import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { customResourceDefinitionsStrategy } from './custom-resource-definitions.ts';

export const API_EXTENSIONS: RegistryGroup = registryGroup([customResourceDefinitionsStrategy]);
