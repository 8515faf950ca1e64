import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, microTime, object, pointer, required, string, time } from '../../schema.ts';
import { EventSource } from './event-source.ts';
import { ObjectReference } from './object-reference.ts';

export const EventSeries = object('io.k8s.api.core.v1.EventSeries', '', {
  count: field(1, int32),
  lastObservedTime: always(2, microTime),
});
export type EventSeries = Infer<typeof EventSeries>;

export const Event = kind(
  { name: 'io.k8s.api.core.v1.Event', group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true, shortNames: ['ev'] },
  '',
  {
    metadata: required(1, ObjectMeta),
    involvedObject: required(2, ObjectReference),
    reason: field(3, string),
    message: field(4, string),
    source: always(5, EventSource),
    firstTimestamp: always(6, time),
    lastTimestamp: always(7, time),
    count: field(8, int32),
    type: field(9, string),
    eventTime: always(10, microTime),
    series: pointer(11, EventSeries),
    action: field(12, string),
    related: pointer(13, ObjectReference),
    reportingComponent: always(14, string),
    reportingInstance: always(15, string),
  },
);
export type Event = Infer<typeof Event>;
