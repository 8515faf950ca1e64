import { type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { podGroupsStrategy, workloadsStrategy } from './pod-groups.ts';
import { priorityClassesStrategy } from './priority-classes.ts';

export const SCHEDULING: RegistryGroup = registryGroup([priorityClassesStrategy, podGroupsStrategy, workloadsStrategy]);
