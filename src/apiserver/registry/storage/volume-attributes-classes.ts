import { storage } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const volumeAttributesClassesStrategy: ResourceStrategy<storage.VolumeAttributesClass> = storage.volumeAttributesClassBehaviour;
