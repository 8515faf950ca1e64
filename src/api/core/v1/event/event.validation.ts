import { pushAll } from '#base';
import { checkDns1123Subdomain, checkQualifiedName, FieldError, nameIsDnsSubdomain, Path } from '#machinery';
import { immutable, invalidErrors, sameValue } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { ObjectReference } from '../reference/object-reference.ts';
import type { Event } from './event.ts';
import { EventSource } from './event-source.ts';

const MAX_NOTE = 1024;
const MAX_TEXT = 128;
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

/** The API group of an event: events.k8s.io is stricter, and has other field names. */
export type EventGroup = '' | 'events.k8s.io';

export function validateEvent(event: Event, group: EventGroup = ''): FieldError[] {
  const errors = validateAnyEvent(event, group);
  return group === '' ? errors : [...errors, ...validateNewEvent(event)];
}

export function validateEventUpdate(event: Event, old: Event, group: EventGroup = ''): FieldError[] {
  const errors = validateAnyEvent(event, group);
  return group === '' ? errors : [...errors, ...validateChange(event, old)];
}

/** The legacy rules: events with an eventTime follow the newer API and must have a reporting controller. */
function validateAnyEvent(event: Event, group: EventGroup): FieldError[] {
  const namespace = event.metadata?.namespace ?? '';
  const errors = event.eventTime ? validateReport(event, group) : [];
  if (!isNamespaceRight(event, namespace)) {
    const value = event.involvedObject?.namespace ?? '';
    errors.unshift(FieldError.invalid(Path.of('involvedObject', 'namespace'), value, 'does not match event.namespace'));
  }
  return [...errors, ...invalidErrors(Path.of('namespace'), namespace, checkDns1123Subdomain(namespace))];
}

/** Events about cluster-scoped objects live in `default`; newer ones may also live in `kube-system`. */
function isNamespaceRight({ involvedObject, eventTime }: Event, namespace: string): boolean {
  const involved = involvedObject?.namespace ?? '';
  if (eventTime) return involved !== '' || namespace === 'default' || namespace === 'kube-system';
  return involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
}

function validateReport(event: Event, group: EventGroup): FieldError[] {
  const reporter = Path.of(group === '' ? 'reportingComponent' : 'reportingController');
  const component = event.reportingComponent ?? '';
  const errors = component === '' ? [FieldError.required(reporter)] : [];
  pushAll(errors, invalidErrors(reporter, component, checkQualifiedName(component)));
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    const text = event[field] ?? '';
    if (text === '') errors.push(FieldError.required(Path.of(field)));
    if (Buffer.byteLength(text) > MAX_TEXT) errors.push(tooLong(field, MAX_TEXT));
  }
  if (Buffer.byteLength(event.message ?? '') > MAX_NOTE) errors.push(tooLong('message', MAX_NOTE));
  return errors;
}

function tooLong(field: string, max: number): FieldError {
  return FieldError.invalid(Path.of(field), '', `can have at most ${max} characters`);
}

function validateNewEvent(event: Event): FieldError[] {
  const errors = [...validateObjectMeta(event.metadata, META), ...validateSeries(event)];
  if (!event.eventTime) errors.push(FieldError.required(Path.of('eventTime')));
  if (event.type !== 'Normal' && event.type !== 'Warning') {
    errors.push(FieldError.invalid(Path.of('type'), '', `has invalid value: ${event.type ?? ''}`));
  }
  const unset = (field: string, isSet: boolean) => isSet && errors.push(FieldError.invalid(Path.of(field), '', 'needs to be unset'));
  unset('firstTimestamp', Boolean(event.firstTimestamp));
  unset('lastTimestamp', Boolean(event.lastTimestamp));
  unset('count', Boolean(event.count));
  unset('source', Boolean(event.source?.component || event.source?.host));
  return errors;
}

function validateSeries({ series }: Event): FieldError[] {
  if (!series) return [];
  const errors = (series.count ?? 0) < 2 ? [FieldError.invalid(Path.of('series.count'), '', 'should be at least 2')] : [];
  return series.lastObservedTime ? errors : [...errors, FieldError.required(Path.of('series.lastObservedTime'))];
}

function validateChange(event: Event, old: Event): FieldError[] {
  const text = (field: 'reason' | 'message' | 'type' | 'action' | 'reportingInstance', value = event[field] ?? '') =>
    immutable(Path.of(field), { value, old: old[field] ?? '' });
  const struct = (field: 'involvedObject' | 'related', schema = ObjectReference) =>
    immutable(Path.of(field), { value: event[field], old: old[field], printed: goStruct(schema, event[field]) });
  const time = (field: 'firstTimestamp' | 'lastTimestamp' | 'eventTime') =>
    immutable(Path.of(field), { value: event[field], old: old[field] });
  return [
    ...validateObjectMetaUpdate(event.metadata, old.metadata),
    ...(sameValue(event.series, old.series) ? [] : validateSeries(event)),
    ...struct('involvedObject'),
    ...text('reason'),
    ...text('message'),
    ...immutable(Path.of('source'), { value: event.source, old: old.source, printed: goStruct(EventSource, event.source ?? {}) }),
    ...time('firstTimestamp'),
    ...time('lastTimestamp'),
    ...immutable(Path.of('count'), { value: event.count ?? 0, old: old.count ?? 0 }),
    ...text('reason'),
    ...text('type'),
    ...time('eventTime'),
    ...text('action'),
    ...struct('related'),
    ...immutable(Path.of('reportingController'), { value: event.reportingComponent ?? '', old: old.reportingComponent ?? '' }),
    ...text('reportingInstance'),
  ];
}
