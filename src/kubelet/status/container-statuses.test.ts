import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { type PodContainer, podState } from '../pods/pod-state.ts';
import { type ContainerFacts, containerStatuses } from './container-statuses.ts';

const ENDED = { terminated: { exitCode: 3, reason: 'Error', message: 'why', containerID: 'containerd://old' } };
const spec: core.Container = { name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }] };
const pod: core.Pod = { metadata: { name: 'p', uid: 'u' }, spec: { containers: [spec] } };
const running: PodContainer = {
  ...{ id: 'new', sandboxId: 's', logPath: '', name: 'c', attempt: 0, state: 'running', image: 'i', imageRef: 'i', specHash: '' },
  createdAtMs: 0,
};
const statusOf = (changes: Partial<ContainerFacts>, containers: readonly PodContainer[] = []) =>
  containerStatuses(
    {
      ...{ pod, previous: {}, state: podState([], containers), waiting: new Map(), runtimeName: 'containerd', isRestartingAll: false },
      ...{ hasStarted: () => true, isReady: () => true },
      ...changes,
    },
    'regular',
  )[0];
const previous = (state: core.ContainerState, lastState: core.ContainerState = {}): core.PodStatus => ({
  containerStatuses: [
    { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 2, containerID: 'containerd://old', state, lastState },
  ],
});

describe('the status of a container that the runtime has removed', () => {
  it('keeps the end that was reported', () => {
    const last = { terminated: { exitCode: 1 } };
    expect(statusOf({ previous: previous(ENDED, last) })).toMatchObject({
      ...{ state: ENDED, lastState: last, restartCount: 2, containerID: 'containerd://old', ready: false },
    });
  });

  it('is an unknown end of one that ran when last seen', () => {
    expect(statusOf({ previous: previous({ running: {} }) })).toMatchObject({
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      restartCount: 3,
    });
  });
});

describe('the status of a container that the runtime shows', () => {
  it('has the user of its first process where the runtime tells it', () => {
    const user = { uid: 1000, gid: 2000, supplementalGroups: [2000, 3000] };
    expect(statusOf({}, [{ ...running, user }])?.user).toEqual({ linux: user });
    expect(statusOf({}, [{ ...running, user: { uid: 0, gid: 0, supplementalGroups: [] } }])?.user).toEqual({ linux: { uid: 0, gid: 0 } });
    expect(statusOf({}, [running])).not.toHaveProperty('user');
  });

  it('waits without a reason while it is created', () => {
    expect(statusOf({}, [{ ...running, state: 'created' }])?.state).toEqual({ waiting: {} });
  });
});

describe('the volume mounts in the status of a container', () => {
  it('are recursively read-only where the runtime mounted them so', () => {
    const mounts = (recursive: readonly string[]) => statusOf({}, [{ ...running, recursiveReadOnly: new Set(recursive) }])?.volumeMounts;
    expect(mounts(['/v'])).toEqual([{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Enabled' }]);
    expect(mounts(['/w'])).toEqual([{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Disabled' }]);
  });
});
