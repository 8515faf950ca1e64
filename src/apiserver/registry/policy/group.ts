import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { podDisruptionBudgetsStrategy } from './pod-disruption-budgets.ts';

export const POLICY: RegistryGroup = registryGroup([podDisruptionBudgetsStrategy]);
