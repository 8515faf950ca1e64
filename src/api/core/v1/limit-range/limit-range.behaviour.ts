import type { KindBehaviour } from '../../../behaviour.ts';
import { defaultLimitRange } from './limit-range.defaults.ts';
import { LimitRange } from './limit-range.ts';
import { validateLimitRange } from './limit-range.validation.ts';

export const limitRangeBehaviour: KindBehaviour<LimitRange> = {
  kind: LimitRange,
  defaults: defaultLimitRange,
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
};
