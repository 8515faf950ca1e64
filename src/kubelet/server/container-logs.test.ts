import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import type { ContainerRuntime } from '../cri/runtime.ts';
import { findLoggedContainer } from './container-logs.ts';

const ended = (id: string) => ({ terminated: { exitCode: 1, containerID: id } });
const status = (state: core.ContainerState, lastState: core.ContainerState = {}): core.PodStatus => ({
  containerStatuses: [
    { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, containerID: 'containerd://2', state, lastState },
  ],
});
const runtime = {
  listPodSandbox: async () => [],
  listContainers: async () => [],
} as unknown as ContainerRuntime;

/** The runtime has no containers: the error shows which one was selected. */
async function complaint(podStatus: core.PodStatus, { previous = false, container = 'c' } = {}): Promise<string> {
  const pod: core.Pod = { metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: { containers: [{ name: 'c' }] }, status: podStatus };
  return findLoggedContainer({ pod, container, runtime }, previous).then(
    () => '',
    (error: { code: number; message: string }) => `${error.code} ${error.message}`,
  );
}

describe('the container whose logs are asked for', () => {
  it.each([
    ['ErrImagePull', "image can't be pulled"],
    ['ImagePullBackOff', 'trying and failing to pull image'],
    ['ContainerCreating', 'ContainerCreating'],
    ['CreateContainerConfigError', 'CreateContainerConfigError'],
  ])('waits to start, with %s', async (reason, text) => {
    expect(await complaint(status({ waiting: { reason } }))).toBe(`400 container "c" in pod "p" is waiting to start: ${text}`);
  });

  it('is the last one that ended in a crash loop, as the previous one too', async () => {
    const looping = status({ waiting: { reason: 'CrashLoopBackOff' } }, ended('containerd://2'));
    for (const previous of [false, true])
      expect(await complaint(looping, { previous })).toBe('400 unable to retrieve container logs for containerd://2');
  });

  it('is the one before only when that ran', async () => {
    const restarted = status({ running: {} }, ended('containerd://1'));
    expect(await complaint(restarted)).toBe('400 unable to retrieve container logs for containerd://2');
    expect(await complaint(restarted, { previous: true })).toBe('400 unable to retrieve container logs for containerd://1');
    expect(await complaint(status({ running: {} }), { previous: true })).toBe('400 previous terminated container "c" in pod "p" not found');
  });

  it('is named in the complaint when it cannot be found', async () => {
    expect(await complaint({})).toBe('400 container "c" in pod "p" is not available');
    expect(await complaint(status({ running: {} }), { container: 'x' })).toBe('404 container "x" not found in pod "p"');
    expect(await complaint(status({ terminated: { exitCode: 137 } }))).toBe('400 container "c" in pod "p" is terminated');
    expect(await complaint(status({}))).toBe('400 container "c" in pod "p" is waiting to start - no logs yet');
  });
});
