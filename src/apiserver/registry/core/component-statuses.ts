import { core } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

/** Made up when asked for; nothing is stored. */
export const componentStatusesStrategy: ResourceStrategy<core.ComponentStatus> = {
  ...core.componentStatusBehaviour,
  verbs: ['get', 'list'],
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
};
