import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const limitRangesStrategy: ResourceStrategy<core.LimitRange> = {
  ...core.limitRangeBehaviour,
  allowCreateOnUpdate: true,
  namesUnnamed: true,
};
