import { storage } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const csiStorageCapacitiesStrategy: ResourceStrategy<storage.CSIStorageCapacity> = {
  ...storage.csiStorageCapacityBehaviour,
  allowUnconditionalUpdate: false,
};
