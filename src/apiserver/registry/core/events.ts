import { core, events } from '#api';
import type { ResourceStrategy } from '../strategy.ts';

const TTL_SECONDS = 3600;

/** Events expire by themselves. Both groups read and write the one storage, in the core group's shape. */
export const eventsStrategy: ResourceStrategy<core.Event> = {
  ...core.eventBehaviour,
  allowCreateOnUpdate: true,
  ttlSeconds: TTL_SECONDS,
  defaultPropagation: 'Unsupported',
  fieldLabelError: (field) => `field label not supported: ${field}`,
};

export const newEventsStrategy: ResourceStrategy<events.Event> = {
  invalidGroup: '',
  ...events.eventBehaviour,
  allowCreateOnUpdate: true,
  ttlSeconds: TTL_SECONDS,
  defaultPropagation: 'Unsupported',
  fieldLabelError: (field) => `field label not supported: ${field}`,
};
