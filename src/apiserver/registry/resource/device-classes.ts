import { resource } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const deviceClassesStrategy: ResourceStrategy<resource.DeviceClass> = {
  ...resource.deviceClassBehaviour,
  tracksGeneration: true,
  returnsDeletedObject: true,
};
