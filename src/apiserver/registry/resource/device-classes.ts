import { resource } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

export const deviceClassesStrategy: ResourceStrategy<resource.DeviceClass> = {
  ...resource.deviceClassBehaviour,
  tracksGeneration: true,
};
