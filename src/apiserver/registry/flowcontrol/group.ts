import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { flowSchemasStrategy, priorityLevelConfigurationsStrategy } from './flow-control.ts';

export const FLOW_CONTROL: RegistryGroup = registryGroup([flowSchemasStrategy, priorityLevelConfigurationsStrategy]);
