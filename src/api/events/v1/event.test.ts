import { describe, expect, test } from 'vitest';
import { eventBehaviour as coreBehaviour } from '../../core/v1/event/event.behaviour.ts';
import type { Event as CoreEvent } from '../../core/v1/event/event.ts';
import { eventBehaviour } from './event.behaviour.ts';
import { fromCoreEvent, toCoreEvent } from './event.conversion.ts';
import type { Event } from './event.ts';

const events = eventBehaviour as Required<typeof eventBehaviour>;
const coreEvents = coreBehaviour as Required<typeof coreBehaviour>;
const regarding = { kind: 'Pod', namespace: 'ns', name: 'p' };
const NEW: Event = {
  metadata: { name: 'e', namespace: 'ns' },
  eventTime: '2030-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Starting',
  reason: 'Started',
  regarding,
  type: 'Normal',
  note: 'It started.',
};
const OLD: CoreEvent = {
  metadata: { name: 'e', namespace: 'ns' },
  involvedObject: regarding,
  reason: 'Started',
  message: 'It started.',
  type: 'Normal',
  source: { component: 'kubelet', host: 'n' },
  firstTimestamp: '2030-01-01T00:00:00Z',
  lastTimestamp: '2030-01-01T00:01:00Z',
  count: 3,
};

describe('conversion', () => {
  test('moves everything that is called differently', () => {
    expect(toCoreEvent(NEW)).toEqual({
      metadata: { name: 'e', namespace: 'ns' },
      eventTime: '2030-01-01T00:00:00.000000Z',
      action: 'Starting',
      reason: 'Started',
      type: 'Normal',
      kind: 'Event',
      apiVersion: 'v1',
      involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p' },
      message: 'It started.',
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      reportingComponent: 'example.com/c',
      reportingInstance: 'c-1',
    });
    expect(fromCoreEvent(OLD)).toEqual({
      metadata: { name: 'e', namespace: 'ns' },
      reason: 'Started',
      type: 'Normal',
      kind: 'Event',
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod', namespace: 'ns', name: 'p' },
      note: 'It started.',
      deprecatedSource: { component: 'kubelet', host: 'n' },
      deprecatedFirstTimestamp: '2030-01-01T00:00:00Z',
      deprecatedLastTimestamp: '2030-01-01T00:01:00Z',
      deprecatedCount: 3,
    });
  });

  test('loses nothing on the way there and back', () => {
    expect(fromCoreEvent(toCoreEvent(NEW))).toMatchObject(NEW);
    expect(toCoreEvent(fromCoreEvent(OLD))).toMatchObject(OLD);
  });
});

describe('an event of the new form', () => {
  test.each<[string, Partial<Event>, readonly string[]]>([
    ['that is complete', {}, []],
    [
      'without what it is about',
      { reportingController: '', reportingInstance: '', action: '', reason: '' },
      [
        'reportingController: Required value',
        'reportingController: Invalid value: "": name part must be non-empty',
        "reportingController: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'reportingInstance: Required value',
        'action: Required value',
        'reason: Required value',
      ],
    ],
    ['of an unknown type', { type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
    ['with a long note', { note: 'x'.repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
    [
      'with what only the old form has',
      { deprecatedCount: 1, deprecatedSource: { component: 'x' }, deprecatedFirstTimestamp: '2030-01-01T00:00:00Z' },
      [
        'firstTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
    ['about something of another namespace', { regarding: { ...regarding, namespace: 'other' } }, []],
    [
      'of a series with one event',
      { series: { count: 1, lastObservedTime: '2030-01-01T00:00:00.000000Z' } },
      ['series.count: Invalid value: "": should be at least 2'],
    ],
  ])('%s', (_, parts, errors) => {
    expect(events.validate({ ...NEW, ...parts }).map(String)).toEqual(errors);
  });

  test('changes only in its series', () => {
    const series = { count: 2, lastObservedTime: '2030-01-01T00:00:01.000000Z' };
    expect(events.validateUpdate({ ...NEW, series }, NEW).map(String)).toEqual([]);
    expect(events.validateUpdate({ ...NEW, note: 'Other.', action: 'B' }, NEW).map(String)).toEqual([
      'message: Invalid value: "Other.": field is immutable',
      'action: Invalid value: "B": field is immutable',
    ]);
  });
});

describe('an event of the old form', () => {
  test.each<[string, Partial<CoreEvent>, readonly string[]]>([
    ['that is complete', {}, []],
    [
      'in another namespace than its object',
      { involvedObject: { ...regarding, namespace: 'other' } },
      ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ],
    [
      'of a node, elsewhere than in the default namespace',
      { involvedObject: { kind: 'Node', name: 'n' } },
      ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ],
  ])('%s', (_, parts, errors) => {
    expect(coreEvents.validate({ ...OLD, ...parts }).map(String)).toEqual(errors);
  });

  test('prints when it was last seen', () => {
    expect(coreEvents.table.cells(OLD, Date.parse('2030-01-01T00:02:00Z'))).toEqual([
      '60s',
      'Normal',
      'Started',
      'pod/p',
      '',
      'kubelet, n',
      'It started.',
      '2m',
      3,
      'e',
    ]);
  });

  test('can be selected by its object', () => {
    const selected = Object.fromEntries(Object.entries(coreEvents.selectableFields).map(([field, value]) => [field, value(OLD)]));
    expect(selected).toEqual({
      'involvedObject.kind': 'Pod',
      'involvedObject.namespace': 'ns',
      'involvedObject.name': 'p',
      'involvedObject.uid': '',
      'involvedObject.apiVersion': '',
      'involvedObject.resourceVersion': '',
      'involvedObject.fieldPath': '',
      reason: 'Started',
      reportingComponent: '',
      source: 'kubelet',
      type: 'Normal',
    });
  });
});
