import { expect, test } from 'vitest';
import { podTable } from './pod.table.ts';
import type { ContainerStatus, Pod } from './pod.ts';
import type { PodSpec } from './pod-spec.ts';

const NOW = Date.parse('2024-01-01T01:00:00Z');
const status = (overrides: object): ContainerStatus => ({ name: 'c', ready: false, restartCount: 0, image: '', imageID: '', ...overrides });
const running = (overrides: object = {}) =>
  status({ ready: true, state: { running: { startedAt: '2024-01-01T00:00:00Z' } }, ...overrides });
const ended = (terminated: object, overrides: object = {}) =>
  status({ state: { terminated: { exitCode: 0, ...terminated } }, ...overrides });
const waiting = (reason: string, overrides: object = {}) => status({ state: { waiting: { reason } }, ...overrides });

interface Case {
  readonly status: Pod['status'];
  readonly spec?: Partial<PodSpec>;
  readonly metadata?: object;
}

function cells({ status: podStatus, spec = {}, metadata = {} }: Case): readonly unknown[] {
  const pod = {
    metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
    ...(podStatus && { status: podStatus }),
  };
  return podTable.cells(pod, NOW);
}

test.each<[string, Case, readonly [string, string, string]]>([
  ['pending', { status: { phase: 'Pending' } }, ['0/1', 'Pending', '0']],
  ['running', { status: { phase: 'Running', containerStatuses: [running()] } }, ['1/1', 'Running', '0']],
  ['evicted', { status: { phase: 'Failed', reason: 'Evicted' } }, ['0/1', 'Evicted', '0']],
  [
    'gated',
    { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } },
    ['0/1', 'SchedulingGated', '0'],
  ],
  [
    'crashing',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          waiting('CrashLoopBackOff', { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: '2024-01-01T00:55:00Z' } } }),
        ],
      },
    },
    ['0/1', 'CrashLoopBackOff', '3 (5m ago)'],
  ],
  ['completed', { status: { phase: 'Succeeded', containerStatuses: [ended({ reason: 'Completed' })] } }, ['0/1', 'Completed', '0']],
  ['killed', { status: { phase: 'Failed', containerStatuses: [ended({ signal: 9 })] } }, ['0/1', 'Signal:9', '0']],
  ['failed', { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 2 })] } }, ['0/1', 'ExitCode:2', '0']],
  [
    'half done',
    { status: { phase: 'Running', containerStatuses: [ended({ reason: 'Completed' }), running({ name: 'd' })] } },
    ['1/1', 'NotReady', '0'],
  ],
  [
    'half failed',
    { status: { phase: 'Running', containerStatuses: [ended({ reason: 'Completed' }), ended({ exitCode: 1, reason: 'Error' })] } },
    ['0/1', 'Error', '0'],
  ],
  [
    'initialising',
    {
      status: { phase: 'Pending', initContainerStatuses: [status({ state: { running: {} } })] },
      spec: { initContainers: [{ name: 'i' }, { name: 'j' }] },
    },
    ['0/1', 'Init:0/2', '0'],
  ],
  [
    'failing to initialise',
    {
      status: { phase: 'Pending', initContainerStatuses: [ended({}), ended({ exitCode: 7 }, { restartCount: 2 })] },
      spec: { initContainers: [{ name: 'i' }, { name: 'j' }] },
    },
    ['0/1', 'Init:ExitCode:7', '2'],
  ],
  [
    'waiting to initialise',
    { status: { phase: 'Pending', initContainerStatuses: [waiting('ErrImagePull')] }, spec: { initContainers: [{ name: 'c' }] } },
    ['0/1', 'Init:ErrImagePull', '0'],
  ],
  [
    'with a sidecar',
    {
      status: {
        phase: 'Running',
        initContainerStatuses: [running({ name: 's', started: true, restartCount: 1 })],
        containerStatuses: [running()],
      },
      spec: { initContainers: [{ name: 's', restartPolicy: 'Always' }] },
    },
    ['2/2', 'Running', '1'],
  ],
  [
    'being deleted',
    { status: { phase: 'Running', containerStatuses: [running()] }, metadata: { deletionTimestamp: '2024-01-01T00:59:00Z' } },
    ['1/1', 'Terminating', '0'],
  ],
  [
    'lost with its node',
    { status: { phase: 'Running', reason: 'NodeLost' }, metadata: { deletionTimestamp: '2024-01-01T00:59:00Z' } },
    ['0/1', 'Unknown', '0'],
  ],
])('a pod that is %s', (_, input, [ready, reason, restarts]) => {
  expect(cells(input).slice(0, 5)).toEqual(['a', ready, reason, restarts, '60m']);
});

test('wide columns show the node of a pod, its nominated node and its readiness gates', () => {
  const input: Case = {
    status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], conditions: [{ type: 'x.y/z', status: 'True' }] },
    spec: { nodeName: 'n', readinessGates: [{ conditionType: 'x.y/z' }, { conditionType: 'x.y/w' }] },
  };
  expect(cells(input).slice(5)).toEqual(['10.0.0.1', 'n', '<none>', '1/2']);
  expect(cells({ status: {} }).slice(5)).toEqual(['<none>', '<none>', '<none>', '<none>']);
  expect(podTable.columns.filter(({ priority }) => priority === 1).map(({ name }) => name)).toEqual([
    'IP',
    'Node',
    'Nominated Node',
    'Readiness Gates',
  ]);
});

test('table rows of terminated pods have the condition Completed', () => {
  const conditions = (phase: string) => podTable.rowConditions?.({ metadata: { name: 'a' }, status: { phase } });
  expect(conditions('Running')).toEqual([]);
  expect(conditions('Failed')).toEqual([{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }]);
});
