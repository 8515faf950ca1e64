import { events } from '#api';
import { EVENT_TTL_SECONDS } from '../core/events.ts';
import type { ResourceStrategy } from '../generic/strategy.ts';

export const newEventsStrategy: ResourceStrategy<events.Event> = {
  invalidGroup: '',
  ...events.eventBehaviour,
  allowCreateOnUpdate: true,
  ttlSeconds: EVENT_TTL_SECONDS,
  defaultPropagation: 'Unsupported',
  fieldLabelError: (field) => `field label not supported: ${field}`,
};
