import { EventSource } from '../../core/v1/event-source.ts';
import { ObjectReference } from '../../core/v1/object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, microTime, object, pointer, required, string, time } from '../../schema.ts';

export const EventSeries = object('io.k8s.api.events.v1.EventSeries', '', {
  count: required(1, int32),
  lastObservedTime: required(2, microTime),
});
export type EventSeries = Infer<typeof EventSeries>;

export const Event = kind(
  {
    name: 'io.k8s.api.events.v1.Event',
    group: 'events.k8s.io',
    version: 'v1',
    kind: 'Event',
    resource: 'events',
    namespaced: true,
    shortNames: ['ev'],
  },
  '',
  {
    metadata: always(1, ObjectMeta),
    eventTime: required(2, microTime),
    series: pointer(3, EventSeries),
    reportingController: field(4, string),
    reportingInstance: field(5, string),
    action: field(6, string),
    reason: field(7, string),
    regarding: always(8, ObjectReference),
    related: pointer(9, ObjectReference),
    note: field(10, string),
    type: field(11, string),
    deprecatedSource: always(12, EventSource),
    deprecatedFirstTimestamp: always(13, time),
    deprecatedLastTimestamp: always(14, time),
    deprecatedCount: field(15, int32),
  },
);
export type Event = Infer<typeof Event>;
