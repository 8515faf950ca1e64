import { expect, test } from 'vitest';
import type { core } from '#api';
import { silentLogger, VirtualClock } from '#base';
import type { PodEvents } from '../pods/pod-events.ts';
import type { PodContainer, PodState } from '../pods/pod-state.ts';
import { PodProbes } from './pod-probes.ts';

const container = {
  name: 'main',
  readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 3 },
  startupProbe: { httpGet: { port: 80 }, periodSeconds: 1 },
} as core.Container;
const running = { id: 'c1', name: 'main', state: 'running', createdAtMs: 0 } as PodContainer;

function probesOf(clock: VirtualClock, passes: () => boolean): PodProbes {
  const events = { warning: () => {} } as unknown as PodEvents;
  return new PodProbes({ clock, logger: silentLogger, events, onChange: () => {}, probe: async () => ({ passed: passes(), output: '' }) });
}

function pod(status: object = {}): core.Pod {
  return { spec: { containers: [container] }, status } as unknown as core.Pod;
}

test('a ready container stays ready across a kubelet restart until its probe fails', async () => {
  const clock = new VirtualClock();
  let passes = true;
  const probes = probesOf(clock, () => passes);
  const containerStatuses = [{ name: 'main', containerID: 'containerd://c1', ready: true, started: true }];
  probes.follow(pod({ containerStatuses }), { containers: [running] } as unknown as PodState);
  expect([probes.hasStarted('c1'), probes.isReady('c1')]).toEqual([true, true]);
  passes = false;
  await clock.advance(5_000);
  expect(probes.isReady('c1')).toBe(false);
  probes.stop();
});

test.each([
  ['nobody reported', {}],
  ['was reported under another id', { containerStatuses: [{ name: 'main', containerID: 'containerd://c0', ready: true, started: true }] }],
])('a container that %s is not ready before its probes have passed', async (_name, status) => {
  const clock = new VirtualClock();
  const probes = probesOf(clock, () => true);
  probes.follow(pod(status), { containers: [running] } as unknown as PodState);
  expect([probes.hasStarted('c1'), probes.isReady('c1')]).toEqual([false, false]);
  await clock.advance(5_000);
  expect([probes.hasStarted('c1'), probes.isReady('c1')]).toEqual([true, true]);
  probes.stop();
});
