import type { Event as CoreEvent } from '../../core/v1/event/event.ts';
import type { Event } from './event.ts';

/** An event has a form in each of two groups, and is stored in the core form. Conversion is lossless. */
export function toCoreEvent(event: Event): CoreEvent {
  const { kind: _, apiVersion: __, regarding, note, deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, ...rest } = event;
  const { deprecatedCount, reportingController, reportingInstance, ...shared } = rest;
  return {
    ...shared,
    kind: 'Event',
    apiVersion: 'v1',
    involvedObject: regarding ?? {},
    ...(note && { message: note }),
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    ...(deprecatedCount && { count: deprecatedCount }),
    reportingComponent: reportingController ?? '',
    reportingInstance: reportingInstance ?? '',
  } as CoreEvent;
}

export function fromCoreEvent(event: CoreEvent): Event {
  const { kind: _, apiVersion: __, involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } = event;
  const { reportingComponent, reportingInstance, ...shared } = rest;
  return {
    ...shared,
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject ?? {},
    ...(message && { note: message }),
    deprecatedSource: source ?? {},
    deprecatedFirstTimestamp: firstTimestamp ?? null,
    deprecatedLastTimestamp: lastTimestamp ?? null,
    ...(count && { deprecatedCount: count }),
    ...(reportingComponent && { reportingController: reportingComponent }),
    ...(reportingInstance && { reportingInstance }),
  } as Event;
}
