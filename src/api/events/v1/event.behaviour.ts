import type { KindBehaviour } from '../../behaviour.ts';
import { eventTable } from '../../core/v1/event.table.ts';
import { validateEvent, validateEventUpdate } from '../../core/v1/event.validation.ts';
import { toCoreEvent } from './event.conversion.ts';
import { Event } from './event.ts';

/** An event in its newer shape: checked and printed as the stored event that it becomes, by stricter rules. */
export const eventBehaviour: KindBehaviour<Event> = {
  kind: Event,
  validate: (event) => validateEvent(toCoreEvent(event), 'events.k8s.io'),
  validateUpdate: (event, old) => validateEventUpdate(toCoreEvent(event), toCoreEvent(old), 'events.k8s.io'),
  selectableFields: {
    reason: ({ reason }) => reason ?? '',
    'regarding.kind': ({ regarding }) => regarding?.kind ?? '',
    'regarding.namespace': ({ regarding }) => regarding?.namespace ?? '',
    'regarding.name': ({ regarding }) => regarding?.name ?? '',
    'regarding.uid': ({ regarding }) => regarding?.uid ?? '',
    'regarding.apiVersion': ({ regarding }) => regarding?.apiVersion ?? '',
    'regarding.resourceVersion': ({ regarding }) => regarding?.resourceVersion ?? '',
    'regarding.fieldPath': ({ regarding }) => regarding?.fieldPath ?? '',
    reportingController: ({ reportingController }) => reportingController ?? '',
    type: ({ type }) => type ?? '',
  },
  table: { columns: eventTable.columns, cells: (event, now) => eventTable.cells(toCoreEvent(event), now) },
};
