import { lookupTable } from '#base';
import type { KindBehaviour } from '../../behaviour.ts';
import { eventBehaviour as coreEventBehaviour } from '../../core/v1/event/event.behaviour.ts';
import { eventTable } from '../../core/v1/event/event.table.ts';
import type { Event as CoreEvent } from '../../core/v1/event/event.ts';
import { validateEvent, validateEventUpdate } from '../../core/v1/event/event.validation.ts';
import { toCoreEvent } from './event.conversion.ts';
import { Event } from './event.ts';

/** Field selectors of this group mapped to the core group's names: objects are matched in their stored form. */
const CORE_FIELDS = lookupTable<string>({
  reason: 'reason',
  'regarding.kind': 'involvedObject.kind',
  'regarding.namespace': 'involvedObject.namespace',
  'regarding.name': 'involvedObject.name',
  'regarding.uid': 'involvedObject.uid',
  'regarding.apiVersion': 'involvedObject.apiVersion',
  'regarding.resourceVersion': 'involvedObject.resourceVersion',
  'regarding.fieldPath': 'involvedObject.fieldPath',
  reportingController: 'reportingComponent',
  type: 'type',
});

function coreField(name: string): (event: Event) => string {
  const read = coreEventBehaviour.selectableFields?.[name];
  return (event) => read?.(event as unknown as CoreEvent) ?? '';
}

/** An events.k8s.io event: validated and printed as the stored event it converts to, with stricter rules. */
export const eventBehaviour: KindBehaviour<Event> = {
  kind: Event,
  validate: (event) => validateEvent(toCoreEvent(event), 'events.k8s.io'),
  validateUpdate: (event, old) => validateEventUpdate(toCoreEvent(event), toCoreEvent(old), 'events.k8s.io'),
  selectableFields: Object.fromEntries(Object.entries(CORE_FIELDS).map(([name, core]) => [name, coreField(core)])),
  table: { columns: eventTable.columns, cells: (event, now) => eventTable.cells(toCoreEvent(event), now) },
};
