import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { RuntimeError } from '../cri/runtime.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import { type PodContainer, podState } from './pod-state.ts';
import { type ResizeDeps, Resizes } from './resizes.ts';

const container = (name: string): PodContainer => ({
  ...{ id: `id-${name}`, sandboxId: 's', logPath: '', name, attempt: 0, state: 'running', image: 'i', imageRef: 'i', specHash: '' },
  createdAtMs: 0,
});
const podWith = (cpu: string): core.Pod => ({
  metadata: { name: 'p', uid: 'u' },
  spec: {
    containers: [
      { name: 'a', resources: { limits: { cpu } } },
      { name: 'b', resources: { limits: { cpu } }, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
    ],
  },
});

/** What is done, in its order. */
function recorder(updateSandbox: () => Promise<void> = async () => {}) {
  const steps: string[] = [];
  const deps = {
    runtime: {
      updatePodSandboxResources: async (id: string) => {
        steps.push(`update ${id}`);
        await updateSandbox();
      },
      updateContainerResources: async (id: string) => void steps.push(`update ${id}`),
    },
    sandboxId: 's',
    hooks: {
      memory: async () => undefined,
      grow: async () => void steps.push('grow the pod'),
      resize: async () => void steps.push('resize the pod'),
    },
    configs: { resources: () => ({}), sandboxResources: () => ({}) },
    restart: async ({ id }: PodContainer) => void steps.push(`restart ${id}`),
  } as unknown as ResizeDeps;
  return { steps, deps };
}

describe('the resize of a pod in place', () => {
  it('comes before and after that of its containers, which must never have more than the pod', async () => {
    const { steps, deps } = recorder();
    const resizes = new Resizes();
    const sandbox = { id: 's', attempt: 0, isReady: true, createdAtMs: 0, ips: [] };
    const state = podState([sandbox], [container('a'), container('b')]);
    expect(resizes.due(podWith('1'), state)).toEqual([]);
    const smaller = podWith('500m');
    const due = resizes.due(smaller, state);
    expect(await resizes.perform(due, { pod: smaller } as PodContext, deps)).toBe(true);
    expect(steps).toEqual(['update s', 'grow the pod', 'update id-a', 'restart id-b', 'resize the pod']);
    expect(resizes.due(smaller, state)).toEqual([]);
  });

  it('is done without containers that run too', async () => {
    const { steps, deps } = recorder();
    expect(await new Resizes().perform([], { pod: podWith('1') } as PodContext, deps)).toBe(false);
    expect(steps).toEqual(['update s', 'grow the pod', 'resize the pod']);
  });

  it.each([
    new RuntimeError('unimplemented', 'unknown method UpdatePodSandboxResources for service runtime.v1.RuntimeService'),
    new RuntimeError('unknown', 'not implemented yet'),
  ])('goes on where the runtime does not resize sandboxes: $message', async (error) => {
    const { steps, deps } = recorder(() => Promise.reject(error));
    await new Resizes().perform([], { pod: podWith('1') } as PodContext, deps);
    expect(steps).toEqual(['update s', 'grow the pod', 'resize the pod']);
  });

  it('changes nothing when the runtime rejects it', async () => {
    const { steps, deps } = recorder(() => Promise.reject(new RuntimeError('internal', 'no memory to plug in')));
    const resized = new Resizes().perform([], { pod: podWith('1') } as PodContext, deps);
    await expect(resized).rejects.toThrow(
      'failed to notify runtime for UpdatePodSandboxResources; resize rejected: rpc error: code = Internal desc = no memory to plug in',
    );
    expect(steps).toEqual(['update s']);
  });
});
