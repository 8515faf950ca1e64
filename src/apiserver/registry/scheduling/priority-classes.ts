import { scheduling } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

/** Its generation stays 1: nothing of it that matters can change. */
export const priorityClassesStrategy: ResourceStrategy<scheduling.PriorityClass> = {
  ...scheduling.priorityClassBehaviour,
  prepareForCreate: (priorityClass) => ({ ...priorityClass, metadata: { ...priorityClass.metadata, generation: 1 } }),
};
