import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

/** Computed on request, not stored. */
export const componentStatusesStrategy: ResourceStrategy<core.ComponentStatus> = {
  ...core.componentStatusBehaviour,
  verbs: ['get', 'list'],
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  isStored: false,
};
