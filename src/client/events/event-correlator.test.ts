import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { seededRandom, VirtualClock } from '#base';
import { EventCorrelator, type NewEvent } from './event-correlator.ts';
import { EventNames } from './event-names.ts';

function correlator() {
  const clock = new VirtualClock();
  const names = new EventNames(clock, seededRandom(1));
  return { clock, names, correlator: new EventCorrelator(clock, names) };
}

const event = (message: string, overrides: Partial<NewEvent> = {}): NewEvent => ({
  metadata: { name: `pod.${message}`, namespace: 'default' },
  involvedObject: { kind: 'Pod', name: 'pod', namespace: 'default', uid: '1' },
  source: { component: 'kubelet' },
  type: 'Warning',
  reason: 'Failed',
  message,
  count: 1,
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  ...overrides,
});

describe('correlating events', () => {
  it('counts the same event instead of writing it again', () => {
    const { correlator: correlate } = correlator();
    expect(correlate.correlate(event('x'))).toMatchObject({ type: 'create' });
    const later = event('x', { metadata: { name: 'pod.later', namespace: 'default' }, lastTimestamp: '2026-01-01T00:01:00Z' });
    expect(correlate.correlate(later)).toMatchObject({
      type: 'update',
      event: { metadata: { name: 'pod.x' }, count: 2, firstTimestamp: '2026-01-01T00:00:00Z' },
      patch: { count: 2, lastTimestamp: '2026-01-01T00:01:00Z', message: 'x' },
    });
  });

  it('takes the count on from what the server says', () => {
    const { correlator: correlate } = correlator();
    correlate.correlate(event('x'));
    correlate.written({ ...event('x'), metadata: { name: 'pod.server' }, count: 7 } as core.Event);
    expect(correlate.correlate(event('x'))).toMatchObject({ type: 'update', event: { metadata: { name: 'pod.server' }, count: 8 } });
  });

  it('combines events that differ by message only from the tenth on, within ten minutes', async () => {
    const { correlator: correlate, clock } = correlator();
    const results = Array.from({ length: 11 }, (_, i) => correlate.correlate(event(`m${i}`)));
    expect(results.slice(0, 9).every((result) => result.type === 'create' && !result.event.message?.startsWith('('))).toBe(true);
    expect(results[9]).toMatchObject({ type: 'create', event: { message: '(combined from similar events): m9' } });
    expect(results[10]).toMatchObject({ type: 'update', patch: { count: 2, message: '(combined from similar events): m10' } });
    await clock.advance(600_001);
    expect(correlate.correlate(event('m11'))).toMatchObject({ type: 'create', event: { message: 'm11' } });
  });

  it('drops floods about one object: 25 at once, then one every five minutes', async () => {
    const { correlator: correlate, clock } = correlator();
    const send = () => correlate.correlate(event('x')).type;
    const sent = Array.from({ length: 30 }, send);
    expect(sent.filter((type) => type === 'skip')).toHaveLength(5);
    expect(correlate.correlate(event('x', { involvedObject: { kind: 'Pod', name: 'other' } })).type).toBe('create');
    await clock.advance(300_000);
    expect([send(), send()]).toEqual(['update', 'skip']);
  });

  it('names events by object and time, never twice alike, and validly', () => {
    const { names } = correlator();
    const first = names.next('pod');
    expect(first).toMatch(/^pod\.[0-9a-f]+$/);
    expect(names.next('pod')).not.toBe(first);
    expect(names.next('Not_A_Name')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
