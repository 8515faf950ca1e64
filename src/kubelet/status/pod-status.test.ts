import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type PodContainer, podState } from '../pods/pod-state.ts';
import { podStatus } from './pod-status.ts';

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}`, image: 'i' }));

function ended(name: string, message: string): PodContainer {
  return {
    ...{ id: name, sandboxId: 's', logPath: '', name, attempt: 0, state: 'exited', image: 'i', imageRef: 'i', specHash: '' },
    ...{ createdAtMs: 0, startedAtMs: 0, finishedAtMs: 0, exitCode: 1, reason: 'Error', message },
  };
}

function statusOf(spec: core.PodSpec, containers: readonly PodContainer[], generation?: number): core.PodStatus {
  const metadata = { name: 'p', uid: 'u', ...(generation && { generation }) };
  return podStatus({
    ...{ pod: { metadata, spec }, previous: {}, state: podState([], containers), waiting: new Map() },
    ...{ runtimeName: 'containerd', rejection: undefined, isTerminal: false, hostIps: [], nowMs: 0 },
    ...{ hasStarted: () => true, isReady: () => true },
  });
}

describe('the termination messages in the status of a pod', () => {
  const messageBytes = ({ state, lastState }: core.ContainerStatus) =>
    Buffer.byteLength(state?.terminated?.message ?? lastState?.terminated?.message ?? '');

  it('share 12 KiB among all containers of the pod', () => {
    const spec = { initContainers: names('i', 2), containers: names('c', 3) };
    const long = [...spec.initContainers, ...spec.containers].map(({ name }) => ended(name, 'x'.repeat(4096)));
    const { initContainerStatuses = [], containerStatuses = [] } = statusOf(spec, long);
    expect([...initContainerStatuses, ...containerStatuses].map(messageBytes)).toEqual([2457, 2457, 2457, 2457, 2457]);
  });

  it('are left as they are where each has room', () => {
    const { containerStatuses = [] } = statusOf({ containers: names('c', 3) }, [ended('c0', 'x'.repeat(4096)), ended('c1', 'short')]);
    expect(containerStatuses.map(messageBytes)).toEqual([4096, 5, 0]);
  });

  it('are cut by bytes, not by characters', () => {
    const { containerStatuses = [] } = statusOf({ containers: names('c', 6) }, [ended('c0', 'é'.repeat(2000))]);
    expect(containerStatuses.map(messageBytes)).toEqual([2048, 0, 0, 0, 0, 0]);
  });
});

describe('the conditions of a pod', () => {
  it('have the generation that they were observed at, but the one of restarting all containers', () => {
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
    const container = { name: 'c', image: 'i', restartPolicy: 'Never', restartPolicyRules };
    const { conditions = [] } = statusOf({ containers: [container] }, [], 3);
    expect(conditions.map(({ type, observedGeneration }) => [type, observedGeneration])).toEqual([
      ['PodReadyToStartContainers', 3],
      ['Initialized', 3],
      ['Ready', 3],
      ['ContainersReady', 3],
      ['PodScheduled', 3],
      ['AllContainersRestarting', undefined],
    ]);
  });
});
