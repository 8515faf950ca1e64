import { scheduling } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** The generation stays 1: the value is immutable. */
export const priorityClassesStrategy: ResourceStrategy<scheduling.PriorityClass> = {
  ...scheduling.priorityClassBehaviour,
  prepareForCreate: (priorityClass) => ({ ...priorityClass, metadata: { ...priorityClass.metadata, generation: 1 } }),
};
