import { storage } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const storageClassesStrategy: ResourceStrategy<storage.StorageClass> = storage.storageClassBehaviour;
