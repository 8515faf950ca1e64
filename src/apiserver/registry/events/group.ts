import { events } from '#api';
import { type Conversion, type RegistryGroup, registryGroup } from '../generic/registry-group.ts';
import { newEventsStrategy } from './events.ts';

export const EVENTS: RegistryGroup = registryGroup(
  [newEventsStrategy],
  [
    {
      from: 'events.k8s.io/v1/Event',
      to: '/v1/Event',
      toStored: events.toCoreEvent as unknown as Conversion['toStored'],
      fromStored: events.fromCoreEvent as unknown as Conversion['fromStored'],
      hasOwnRules: true,
    },
  ],
);
