import { storage } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const volumeAttributesClassesStrategy: ResourceStrategy<storage.VolumeAttributesClass> = {
  ...storage.volumeAttributesClassBehaviour,
  returnsDeletedObject: true,
};
