import { core } from '#api';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const EVENT_TTL_SECONDS = 3600;

/** Events expire. Both groups share one storage, in the core group's form. */
export const eventsStrategy: ResourceStrategy<core.Event> = {
  ...core.eventBehaviour,
  allowCreateOnUpdate: true,
  ttlSeconds: EVENT_TTL_SECONDS,
  defaultPropagation: 'Unsupported',
  fieldLabelError: (field) => `field label not supported: ${field}`,
};
