import { ObjectMeta } from '../../../meta/v1/object-meta.ts';
import { always, field, type Infer, int32, kind, microTime, object, pointer, required, string, time } from '../../../schema.ts';
import { ObjectReference } from '../reference/object-reference.ts';
import { EventSource } from './event-source.ts';

export const EventSeries = object('io.k8s.api.core.v1.EventSeries', 'How an event recurs.', {
  count: field(1, int32, 'The number of occurrences so far.'),
  lastObservedTime: always(2, microTime, 'The time of the last occurrence.'),
});
export type EventSeries = Infer<typeof EventSeries>;

export const Event = kind(
  { name: 'io.k8s.api.core.v1.Event', group: '', version: 'v1', kind: 'Event', resource: 'events', namespaced: true, shortNames: ['ev'] },
  'A report of something that happened to an object. Events expire.',
  {
    metadata: required(1, ObjectMeta, "Standard object's metadata."),
    involvedObject: required(2, ObjectReference, 'The object that the event is about.'),
    reason: field(3, string, 'Why it happened, as one CamelCase word.'),
    message: field(4, string, 'What happened, in words.'),
    source: always(5, EventSource, 'Who reported it.'),
    firstTimestamp: always(6, time, 'The time of the first occurrence.'),
    lastTimestamp: always(7, time, 'The time of the last occurrence.'),
    count: field(8, int32, 'The number of occurrences.'),
    type: field(9, string, 'Normal or Warning.'),
    eventTime: always(10, microTime, 'The time of the first occurrence, in microseconds.'),
    series: pointer(11, EventSeries, 'How it recurs, if it does.'),
    action: field(12, string, 'What was done, or failed, about the object.'),
    related: pointer(13, ObjectReference, 'A second object that played a part.'),
    reportingComponent: always(14, string, 'The controller that reports it, such as kubernetes.io/kubelet.'),
    reportingInstance: always(15, string, 'The instance of the controller, such as a host name.'),
  },
);
export type Event = Infer<typeof Event>;
