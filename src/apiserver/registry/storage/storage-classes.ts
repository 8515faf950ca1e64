import { storage } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const storageClassesStrategy: ResourceStrategy<storage.StorageClass> = {
  ...storage.storageClassBehaviour,
  returnsDeletedObject: true,
};
