import { expect, test } from 'vitest';
import { seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { EventWriter } from './event-writer.ts';
import { InMemoryCluster } from './in-memory-cluster.test-setup.ts';
import { pod } from './placement.test-data.ts';

const EVENTS = '/apis/events.k8s.io/v1/events';
const bound = { type: 'Normal', reason: 'Scheduled', action: 'Binding', note: 'Successfully assigned' } as const;

function writer() {
  const cluster = new InMemoryCluster();
  const clock = new VirtualClock();
  const state = { isBusy: false };
  const deps = { client: new Client(cluster), clock, random: seededRandom(1), logger: silentLogger, isBusy: () => state.isBusy };
  const events = new EventWriter(deps, { controller: 'default-scheduler', instance: 'one' });
  const written = () => cluster.objects<{ regarding: { name: string } }>(EVENTS).map(({ regarding }) => regarding.name);
  return { cluster, clock, state, events, written };
}

test('events are written at once while nothing is more urgent', async () => {
  const { cluster, clock, events, written } = writer();
  events.record(pod('p'), bound);
  await clock.settle();
  expect(written()).toEqual(['p']);
  expect(cluster.objects(EVENTS)[0]).toMatchObject({
    regarding: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'p', uid: 'default-p' },
    reportingController: 'default-scheduler',
    reportingInstance: 'one',
    ...bound,
  });
});

test('events wait while the scheduler is busy, and are written in order when it is idle', async () => {
  const { clock, state, events, written } = writer();
  state.isBusy = true;
  for (const name of ['a', 'b', 'c']) events.record(pod(name), bound);
  await clock.settle();
  expect(written()).toEqual([]);
  state.isBusy = false;
  events.resume();
  await clock.settle();
  expect(written()).toEqual(['a', 'b', 'c']);
});

test('no event waits for more than five seconds, however busy the scheduler is', async () => {
  const { clock, state, events, written } = writer();
  state.isBusy = true;
  events.record(pod('a'), bound);
  await clock.advance(3000);
  events.record(pod('b'), bound);
  await clock.advance(2000);
  expect(written()).toEqual(['a']);
  await clock.advance(3000);
  expect(written()).toEqual(['a', 'b']);
});

test('all recorded events are written when the scheduler stops', async () => {
  const { state, events, written } = writer();
  state.isBusy = true;
  const names = Array.from({ length: 500 }, (_, i) => `p${i}`);
  for (const name of names) events.record(pod(name), bound);
  await events.flushed();
  expect(written()).toEqual(names);
});

test('repeated events about a pod are combined into one with a count', async () => {
  const { cluster, clock, state, events } = writer();
  state.isBusy = true;
  events.record(pod('p'), bound);
  events.record(pod('p'), bound);
  state.isBusy = false;
  events.resume();
  await clock.settle();
  expect(cluster.objects(EVENTS)).toMatchObject([{ series: { count: 2 } }]);
});
