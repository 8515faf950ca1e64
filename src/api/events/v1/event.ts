import { EventSource } from '../../core/v1/event/event-source.ts';
import { ObjectReference } from '../../core/v1/reference/object-reference.ts';
import { ObjectMeta } from '../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, microTime, object, pointer, required, string, time } from '../../schema.ts';

export const EventSeries = object('io.k8s.api.events.v1.EventSeries', 'How an event recurs.', {
  count: required(1, int32, 'The number of occurrences so far.'),
  lastObservedTime: required(2, microTime, 'The time of the last occurrence.'),
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
  'A report of something that happened to an object. Events expire.',
  {
    metadata: always(1, ObjectMeta, "Standard object's metadata."),
    eventTime: required(2, microTime, 'The time of the first occurrence.'),
    series: pointer(3, EventSeries, 'How it recurs, if it does.'),
    reportingController: field(4, string, 'The controller that reports it, such as kubernetes.io/kubelet.'),
    reportingInstance: field(5, string, 'The instance of the controller.'),
    action: field(6, string, 'What was done, or failed, about the object.'),
    reason: field(7, string, 'Why it happened, as one CamelCase word.'),
    regarding: always(8, ObjectReference, 'The object that the event is about.'),
    related: pointer(9, ObjectReference, 'A second object that played a part.'),
    note: field(10, string, 'What happened, in words.'),
    type: field(11, string, 'Normal or Warning.'),
    deprecatedSource: always(12, EventSource, 'As source of the core Event.'),
    deprecatedFirstTimestamp: always(13, time, 'As firstTimestamp of the core Event.'),
    deprecatedLastTimestamp: always(14, time, 'As lastTimestamp of the core Event.'),
    deprecatedCount: field(15, int32, 'As count of the core Event.'),
  },
);
export type Event = Infer<typeof Event>;
