import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { podActions } from './actions.ts';
import { type PodContainer, type PodSandbox, podState } from './pod-state.ts';

const sandbox = (isReady = true, attempt = 0): PodSandbox => ({
  ...{ id: `s${attempt}`, attempt, isReady, createdAtMs: attempt, ips: [] },
});
const container = (name: string, state: PodContainer['state'], exitCode = 0, sandboxId = 's0'): PodContainer => ({
  ...{ id: `${name}-id`, sandboxId, logPath: '', name, attempt: 0, state, image: 'i', imageRef: 'i', specHash: 'i', createdAtMs: 0 },
  ...(state === 'exited' && { exitCode }),
});
const spec = (restartPolicy: string, init: readonly string[] = [], sidecars: readonly string[] = []): core.Pod => ({
  metadata: { name: 'p', namespace: 'd', uid: 'u' },
  spec: {
    restartPolicy,
    initContainers: [
      ...sidecars.map((name) => ({ name, image: 'i', restartPolicy: 'Always' })),
      ...init.map((name) => ({ name, image: 'i' })),
    ],
    containers: [{ name: 'c', image: 'i' }],
  },
});

describe('podActions', () => {
  const cases: readonly [string, core.Pod, readonly PodSandbox[], readonly PodContainer[], object][] = [
    ['a new one needs a sandbox', spec('Always'), [], [], { createSandbox: true }],
    ['then its container', spec('Always'), [sandbox()], [], { start: ['c'] }],
    ['then nothing', spec('Always'), [sandbox()], [container('c', 'running')], {}],
    ['one that ended starts again', spec('Always'), [sandbox()], [container('c', 'exited')], { start: ['c'] }],
    ['unless it ended well', spec('OnFailure'), [sandbox()], [container('c', 'exited')], { isOver: true }],
    ['unless it never restarts', spec('Never'), [sandbox()], [container('c', 'exited', 1)], { isOver: true }],
    ['init containers come first', spec('Always', ['i']), [sandbox()], [], { start: ['i'] }],
    ['one at a time', spec('Always', ['i', 'j']), [sandbox()], [container('i', 'running')], {}],
    ['in order', spec('Always', ['i', 'j']), [sandbox()], [container('i', 'exited')], { start: ['j'] }],
    ['again when they fail', spec('Always', ['i']), [sandbox()], [container('i', 'exited', 1)], { start: ['i'] }],
    ['or never', spec('Never', ['i']), [sandbox()], [container('i', 'exited', 1)], { isOver: true }],
    ['forgotten ones do not run again', spec('Always', ['i']), [sandbox()], [container('c', 'running')], {}],
    ['sidecars come before', spec('Always', ['i'], ['s']), [sandbox()], [], { start: ['s'] }],
    ['and restart beside', spec('Never', [], ['s']), [sandbox()], [container('s', 'exited'), container('c', 'running')], { start: ['s'] }],
    [
      'a sidecar that ended does not hold up the next init container',
      spec('Always', ['i', 'j'], ['s']),
      [sandbox()],
      [container('s', 'exited'), container('i', 'exited')],
      { start: ['s', 'j'] },
    ],
    [
      'nor regular containers',
      spec('Always', ['i'], ['s']),
      [sandbox()],
      [container('s', 'exited'), container('i', 'exited')],
      { start: ['s', 'c'] },
    ],
    [
      'nor the end of a pod whose init container failed',
      spec('Never', ['i'], ['s']),
      [sandbox()],
      [container('s', 'exited'), container('i', 'exited', 1)],
      { isOver: true },
    ],
    [
      'it does not start again when the pod is over',
      spec('Never', [], ['s']),
      [sandbox()],
      [container('s', 'exited'), container('c', 'exited')],
      { isOver: true },
    ],
    ['a dead sandbox is replaced', spec('Always'), [sandbox(false)], [container('c', 'exited')], { createSandbox: true }],
    ['but not for what is over', spec('Never'), [sandbox(false)], [container('c', 'exited')], { isOver: true }],
    [
      'nor for a container that dies with it and never restarts',
      spec('Never'),
      [sandbox(false)],
      [container('c', 'running')],
      { isOver: true },
    ],
    ['nor for what comes after an init container', spec('Never', ['i']), [sandbox(false)], [container('i', 'exited')], { isOver: true }],
    ['a sandbox that died before its first container is replaced', spec('Never'), [sandbox(false)], [], { createSandbox: true }],
    ['what an earlier sandbox had runs anew', spec('Always', ['i']), [sandbox(true, 1)], [container('i', 'exited')], { start: ['i'] }],
  ];
  it.each(cases)('%s', (_name, pod, sandboxes, containers, expected) => {
    const observed = { pod, state: podState(sandboxes, containers), hasStarted: () => true, probeFailure: () => undefined };
    const { createSandbox, start, kill, isOver } = podActions({ ...observed, specHash: ({ image = '' }) => image });
    const done = { createSandbox, start: start.map(({ name }) => name), kill: kill.length, isOver };
    expect(done).toEqual({ createSandbox: false, start: [], kill: 0, isOver: false, ...expected });
  });

  it('ends containers whose probe failed or whose definition changed', () => {
    const state = podState([sandbox()], [container('c', 'running')]);
    const observed = { pod: spec('Always'), state, hasStarted: () => true };
    const failed = podActions({ ...observed, probeFailure: () => 'liveness', specHash: () => 'i' });
    expect(failed.kill).toMatchObject([{ message: 'Container c failed liveness probe, will be restarted', probe: 'liveness' }]);
    const changed = podActions({ ...observed, probeFailure: () => undefined, specHash: () => 'other' });
    expect(changed.kill).toMatchObject([{ message: 'Container c definition changed, will be restarted' }]);
  });

  it('names sidecars whose probe failed or whose definition changed as upstream does', () => {
    const state = podState([sandbox()], [container('s', 'running'), container('c', 'running')]);
    const observed = { pod: spec('Never', [], ['s']), state, hasStarted: () => true };
    const failed = podActions({ ...observed, probeFailure: (id) => (id === 's-id' ? 'liveness' : undefined), specHash: () => 'i' });
    expect(failed.kill).toMatchObject([{ message: 'Init container s failed liveness probe' }]);
    const changed = podActions({ ...observed, probeFailure: () => undefined, specHash: ({ name }) => (name === 's' ? 'other' : 'i') });
    expect(changed.kill).toMatchObject([{ message: 'Init container s definition changed' }]);
    expect(changed.start.map(({ name }) => name)).toEqual(['s']);
  });
});
