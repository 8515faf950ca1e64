import type { KindBehaviour } from '../../../behaviour.ts';
import { eventTable } from './event.table.ts';
import { Event } from './event.ts';
import { validateEvent, validateEventUpdate } from './event.validation.ts';

export const eventBehaviour: KindBehaviour<Event> = {
  kind: Event,
  validate: (event) => validateEvent(event),
  validateUpdate: (event, old) => validateEventUpdate(event, old),
  selectableFields: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject?.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject?.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject?.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject?.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject?.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject?.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject?.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source?.component || (reportingComponent ?? ''),
    type: ({ type }) => type ?? '',
  },
  table: eventTable,
};
